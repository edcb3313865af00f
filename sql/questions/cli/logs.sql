-- ---
-- about = "Logs that options select, the newest first, with the cost of their findings."
-- parts = ["narrowed_log"]
-- reads = ["main.findings"]
-- parameters = ["most_rows"]
-- ---
WITH listed AS (
    SELECT * FROM narrowed_log
    ORDER BY start_at DESC NULLS LAST, log_id
    LIMIT $most_rows::BIGINT
),
found AS (
    SELECT cluster, night, log_id, count(*) AS finding_count, sum(charged_core_seconds) AS cost_core_seconds,
        sum(charged_core_seconds * is_facility_cause::INTEGER) AS facility_cost_core_seconds
    FROM main.findings
    WHERE log_id IN (SELECT log_id FROM listed)
    GROUP BY ALL
)
SELECT
    log_id, job_id, "user", app, nprocs, start_at, run_seconds, io_ratio, io_core_seconds, read_bytes, write_bytes,
    coalesce(finding_count, 0) AS finding_count, cost_core_seconds, facility_cost_core_seconds, night, cluster
FROM listed
LEFT JOIN found USING (cluster, night, log_id)
ORDER BY start_at DESC NULLS LAST, log_id
