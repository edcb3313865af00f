-- ---
-- about = "Logs, and others of their nights that show them: the next hundred runs of their lineage, and all logs of their job."
-- parts = []
-- reads = ["core.log", "core.owner_doubt"]
-- # The first and the last night are those of the logs.
-- parameters = ["log_ids", "first_night", "last_night"]
-- ---
WITH of_nights AS (
    SELECT cluster, night, log_id, lineage_id, job_id, start_at, list_contains($log_ids::VARCHAR[], log_id) AS is_due
    FROM core.log
    WHERE night BETWEEN $first_night::DATE AND $last_night::DATE
),
due AS (
    FROM of_nights WHERE is_due
)
SELECT log_id, job_id FROM due
UNION
SELECT log_id, job_id
FROM (
    SELECT
        log_id, job_id,
        bool_or(is_due) OVER (
            -- As far back, and in the same order, as the question `report/history` looks.
            PARTITION BY cluster, lineage_id ORDER BY start_at, log_id ROWS BETWEEN 100 PRECEDING AND CURRENT ROW
        ) AS is_after
    FROM of_nights
    SEMI JOIN due USING (cluster, lineage_id)
    ANTI JOIN core.owner_doubt USING (cluster, night, log_id)
)
WHERE is_after
UNION
SELECT log_id, job_id
FROM of_nights
SEMI JOIN due USING (cluster, night, job_id)
WHERE job_id <> ''
