-- ---
-- about = "Logs, on how many hosts their ranks ran, and whether their job has other logs."
-- parts = []
-- reads = ["core.log", "core.rank_io", "main.logs"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
WITH hosts AS (
    SELECT log_id, count(DISTINCT host) AS host_count
    FROM core.rank_io
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
    GROUP BY log_id
),
wanted AS (
    SELECT *
    FROM main.logs
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
),
of_job AS (
    SELECT DISTINCT wanted.log_id, true AS has_other_logs
    FROM wanted
    JOIN (
        SELECT job_id, log_id AS other_log_id, night AS other_night
        FROM core.log
        WHERE cluster = $cluster AND night BETWEEN $first_night::DATE - 1 AND $last_night::DATE + 1 AND job_id <> ''
    ) AS other USING (job_id)
    WHERE other_log_id <> log_id AND other_night BETWEEN night - 1 AND night + 1
)
SELECT * REPLACE (coalesce(has_other_logs, false) AS has_other_logs)
FROM wanted
LEFT JOIN hosts USING (log_id)
LEFT JOIN of_job USING (log_id)
