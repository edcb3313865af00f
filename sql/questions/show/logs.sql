-- ---
-- about = "A job's logs in the order of their start, and how many findings each has."
-- parts = []
-- reads = ["main.logs", "main.findings"]
-- parameters = ["job_id", "cluster"]
-- ---
SELECT
    job_id, log_id, app, nprocs, start_at, run_seconds, io_ratio, read_bytes, write_bytes,
    coalesce(finding_count, 0) AS finding_count
FROM (SELECT * FROM main.logs WHERE job_id = $job_id AND cluster = $cluster) AS log
LEFT JOIN (
    SELECT night, log_id, count(*) AS finding_count
    FROM main.findings
    WHERE job_id = $job_id AND cluster = $cluster
    GROUP BY ALL
) AS counted USING (night, log_id)
ORDER BY start_at, log_id
