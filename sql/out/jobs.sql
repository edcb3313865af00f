-- ---
-- about = "Jobs as the scheduler accounts for them, with the sums of their logs; what has not ended yet appears until it has."
-- grain = ["cluster", "night", "job_id"]
-- reads = ["core.job", "main.logs"]
-- ---
WITH latest AS (
    SELECT *
    FROM core.job
    -- The same job comes again in files that overlap.
    QUALIFY row_number() OVER (PARTITION BY cluster, night, job_id ORDER BY end_at IS NULL, end_at DESC, job_state) = 1
),
ended AS (
    SELECT cluster, job_id
    FROM core.job
    WHERE end_at IS NOT NULL
    GROUP BY ALL
),
per_job AS (
    SELECT
        cluster, job_id, COUNT(*) AS log_count,
        TRY_CAST(SUM(read_bytes) AS BIGINT) AS read_bytes, TRY_CAST(SUM(write_bytes) AS BIGINT) AS write_bytes,
        SUM(io_core_seconds) AS io_core_seconds
    FROM main.logs
    GROUP BY ALL
)
SELECT
    job_id, shown_job_id, scheduler, job_name, "user", uid, account, partition, qos, job_state, exit_code,
    submit_at, start_at, end_at, run_seconds, limit_seconds, node_count, core_count, gpu_count, node_list,
    node_count * run_seconds / 3600 AS node_hours,
    COALESCE(log_count, 0) AS log_count, read_bytes, write_bytes, io_core_seconds, doubt, night, cluster
FROM latest
LEFT JOIN per_job USING (cluster, job_id)
WHERE end_at IS NOT NULL OR NOT EXISTS (SELECT 1 FROM ended WHERE ended.cluster = latest.cluster AND ended.job_id = latest.job_id)
