-- ---
-- about = "Each night in numbers: logs, I/O time and its share, findings and their cost, bytes, and what the last sweep of that date rejected."
-- grain = ["cluster", "night"]
-- reads = ["core.app_night", "core.sweep"]
-- ---
WITH of_logs AS (
    SELECT
        cluster, night,
        TRY_CAST(SUM(log_count) AS BIGINT) AS log_count,
        COUNT(DISTINCT uid) AS user_count,
        SUM(io_core_seconds) AS io_core_seconds,
        SUM(run_core_seconds) AS run_core_seconds,
        SUM(io_core_seconds) / NULLIF(SUM(timed_core_seconds), 0) AS io_ratio,
        TRY_CAST(SUM(finding_count) AS BIGINT) AS finding_count,
        TRY_CAST(SUM(finding_log_count) AS BIGINT) AS finding_log_count,
        SUM(cost_core_seconds) AS cost_core_seconds,
        SUM(facility_cost_core_seconds) AS facility_cost_core_seconds,
        TRY_CAST(SUM(read_bytes) AS BIGINT) AS read_bytes,
        TRY_CAST(SUM(write_bytes) AS BIGINT) AS write_bytes
    FROM core.app_night
    GROUP BY cluster, night
),
-- An input that could not be read has no night; and each sweep that finds the same file rejects it again.
of_sweeps AS (
    SELECT cluster, (start_at AT TIME ZONE 'UTC')::DATE AS night, arg_max(rejected_count, start_at ORDER BY sweep_id) AS rejected_count
    FROM core.sweep
    GROUP BY ALL
)
SELECT
    COALESCE(log_count, 0) AS log_count, COALESCE(user_count, 0) AS user_count, io_core_seconds, run_core_seconds, io_ratio,
    COALESCE(finding_count, 0) AS finding_count, COALESCE(finding_log_count, 0) AS finding_log_count,
    finding_log_count / NULLIF(log_count, 0) AS finding_log_ratio,
    cost_core_seconds, facility_cost_core_seconds, cost_core_seconds / NULLIF(io_core_seconds, 0) AS cost_ratio,
    read_bytes, write_bytes, rejected_count, night, cluster
FROM of_logs
FULL JOIN of_sweeps USING (cluster, night)
ORDER BY cluster, night
