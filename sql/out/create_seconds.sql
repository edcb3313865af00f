-- ---
-- about = "The files that a log created on a mount in each second of the clock, and in how many directories."
-- grain = ["log_id", "mount", "create_at"]
-- reads = ["core.created_file", "core.log"]
-- ---
SELECT
    log_id, job_id, "user", app, mount,
    date_trunc('second', start_at + to_microseconds((open_start_seconds * 1000000)::BIGINT)) AS create_at,
    COUNT(*) AS create_count, COUNT(DISTINCT directory) AS directory_count, night, cluster
FROM core.created_file
JOIN (SELECT cluster, night, log_id, job_id, "user", app, start_at FROM core.log) AS log USING (cluster, night, log_id)
WHERE open_start_seconds IS NOT NULL AND start_at IS NOT NULL
GROUP BY ALL
