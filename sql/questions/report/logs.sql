-- ---
-- about = "Logs, and on how many hosts their ranks ran."
-- parts = []
-- reads = ["core.rank_io", "main.logs"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
WITH hosts AS (
    SELECT log_id, count(DISTINCT host) AS host_count
    FROM core.rank_io
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
    GROUP BY log_id
)
SELECT *
FROM (
    SELECT *
    FROM main.logs
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
) AS log
LEFT JOIN hosts USING (log_id)
