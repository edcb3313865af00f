-- ---
-- about = "What caused slow I/O: the verdict on the system state of each log."
-- parts = []
-- reads = ["main.job_weather"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT
    log_id, weather_verdict, weather_rule, weather_slowdown_ratio, is_slow_run, is_excused, run_slowdown_ratio,
    lost_service_seconds, slowest_kind, own_ratio, neighbour, neighbour_ratio
FROM main.job_weather
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
