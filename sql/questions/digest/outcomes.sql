-- ---
-- about = "What came of the advice on each finding of a lineage that a mail listed."
-- parts = []
-- reads = ["main.advice_outcomes"]
-- parameters = []
-- ---
SELECT
    cluster, lineage_id, "user", application, code, outcome, told_night, clear_night, is_over, saved_core_seconds,
    later_count, later_fired_count, clear_since_count
FROM main.advice_outcomes
WHERE "user" <> ''
ORDER BY ALL
