-- ---
-- about = "How a log shared its files, collectively or not."
-- grain = ["log_id"]
-- reads = ["core.log", "core.log_activity", "main.files"]
-- [words]
-- site_shared_count = "Files that several ranks share."
-- site_shared_core_seconds = "Time that ranks spent on these."
-- ---
WITH shared AS (
    SELECT cluster, night, log_id, count(*) AS file_count, sum(io_core_seconds) AS core_seconds
    FROM main.files
    WHERE is_shared
    GROUP BY ALL
)
SELECT
    cluster, night, log_id, NOT is_partial AS is_complete, nprocs, collective_request_count,
    coalesce(file_count, 0) AS site_shared_count, coalesce(core_seconds, 0) AS site_shared_core_seconds
FROM core.log
LEFT JOIN core.log_activity USING (cluster, night, log_id)
LEFT JOIN shared USING (cluster, night, log_id)
