-- ---
-- about = "On how many logs of each night a trigger fired, was clear, did not apply or could not be assessed."
-- parts = ["narrowed_log"]
-- reads = ["main.verdicts"]
-- parameters = ["code", "first_night", "last_night"]
-- ---
SELECT
    night, count(*) AS log_count,
    count(*) FILTER (WHERE state = 'fired') AS fired_count,
    count(*) FILTER (WHERE state = 'clear') AS clear_count,
    count(*) FILTER (WHERE state = 'not applicable') AS not_applicable_count,
    count(*) FILTER (WHERE state = 'unknown') AS unknown_count,
    sum(cost_core_seconds) AS cost_core_seconds
FROM main.verdicts
SEMI JOIN (FROM narrowed_log WHERE is_owner_confirmed IS DISTINCT FROM false) AS confirmed USING (cluster, night, log_id)
-- Nights are narrowed here too, which spares files of verdicts.
WHERE
    code = $code::VARCHAR AND ($first_night::DATE IS NULL OR night >= $first_night::DATE)
    AND ($last_night::DATE IS NULL OR night <= $last_night::DATE)
GROUP BY night
ORDER BY night
