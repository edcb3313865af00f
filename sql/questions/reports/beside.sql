-- ---
-- about = "Logs, and others of their nights that are of the same lineage or job."
-- parts = []
-- reads = ["core.log"]
-- # The first and the last night are those of the logs.
-- parameters = ["log_ids", "first_night", "last_night"]
-- ---
WITH of_nights AS (
    SELECT cluster, night, log_id, lineage_id, job_id
    FROM core.log
    WHERE night BETWEEN $first_night::DATE AND $last_night::DATE
),
due AS (
    FROM of_nights WHERE list_contains($log_ids::VARCHAR[], log_id)
)
SELECT log_id, job_id FROM due
UNION
SELECT log_id, job_id
FROM of_nights
SEMI JOIN due USING (cluster, night, lineage_id)
UNION
SELECT log_id, job_id
FROM of_nights
SEMI JOIN due USING (cluster, night, job_id)
WHERE job_id <> ''
