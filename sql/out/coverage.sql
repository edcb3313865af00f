-- ---
-- about = "What share of a night's jobs and node-hours has a log, and how many logs belong to no known job."
-- grain = ["cluster", "night"]
-- reads = ["main.jobs", "main.logs", "core.job"]
-- ---
WITH of_jobs AS (
    SELECT
        cluster, night, COUNT(DISTINCT job_id) AS job_count,
        -- Where it is not known of which of an array's tasks logs are, each task counts as one with a log.
        COUNT(DISTINCT job_id) FILTER (log_count IS DISTINCT FROM 0) AS logged_job_count,
        SUM(node_hours) AS node_hours,
        COALESCE(SUM(node_hours) FILTER (log_count IS DISTINCT FROM 0), 0) AS logged_node_hours
    FROM main.jobs
    WHERE end_at IS NOT NULL AND run_seconds > 0
    GROUP BY ALL
),
of_logs AS (
    SELECT logs.cluster, logs.night, COUNT(*) AS log_count, COUNT(*) FILTER (job.job_id IS NULL) AS jobless_log_count
    FROM main.logs AS logs
    LEFT JOIN (SELECT DISTINCT cluster, job_id FROM core.job) AS job USING (cluster, job_id)
    GROUP BY ALL
)
SELECT
    job_count, logged_job_count, node_hours, logged_node_hours, logged_node_hours / NULLIF(node_hours, 0) AS logged_ratio,
    COALESCE(log_count, 0) AS log_count, COALESCE(jobless_log_count, 0) AS jobless_log_count, night, cluster
FROM of_jobs
FULL JOIN of_logs USING (cluster, night)
