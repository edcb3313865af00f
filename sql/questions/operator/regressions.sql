-- ---
-- about = "Applications whose I/O takes longer, those that stay slow first."
-- parts = []
-- reads = ["main.regressions"]
-- parameters = ["first_night", "last_night"]
-- ---
SELECT "user", uid, application, regression_kind, io_slowdown_ratio, log_count, night, all_lost_core_seconds
FROM main.regressions
WHERE is_regression AND night BETWEEN $first_night AND $last_night
ORDER BY regression_kind = 'step' DESC, all_lost_core_seconds DESC, log_id
