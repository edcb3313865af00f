-- ---
-- about = "On how many logs of each night a trigger fired, was clear, did not apply or could not be assessed."
-- parts = []
-- reads = ["main.verdicts"]
-- # NULL for all nights, and for all clusters.
-- parameters = ["first_night", "cluster", "code"]
-- ---
SELECT
    night, count(*) AS log_count,
    count(*) FILTER (WHERE state = 'fired') AS fired_count,
    count(*) FILTER (WHERE state = 'clear') AS clear_count,
    count(*) FILTER (WHERE state = 'not applicable') AS not_applicable_count,
    count(*) FILTER (WHERE state = 'unknown') AS unknown_count,
    sum(cost_core_seconds) AS cost_core_seconds
FROM main.verdicts
WHERE code = $code::VARCHAR AND ($first_night::DATE IS NULL OR night >= $first_night::DATE) AND ($cluster::VARCHAR IS NULL OR cluster = $cluster::VARCHAR)
GROUP BY night
ORDER BY night
