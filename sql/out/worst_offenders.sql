-- ---
-- about = "Who spends the most in I/O: programs of a user, the costliest first."
-- grain = ["user", "uid", "app"]
-- reads = ["main.logs", "main.findings"]
-- ---
WITH per_log AS (
    SELECT cluster, night, log_id, COUNT(*) AS finding_count, SUM(cost_core_seconds) AS cost_core_seconds
    FROM main.findings
    GROUP BY ALL
)
SELECT
    "user", uid, app,
    COUNT(*) AS log_count,
    SUM(io_core_seconds) AS io_core_seconds,
    SUM(run_core_seconds) AS run_core_seconds,
    -- A log whose I/O time is not known must not thin out the share of the others.
    SUM(io_core_seconds) / NULLIF(SUM(run_core_seconds) FILTER (WHERE io_core_seconds IS NOT NULL), 0) AS io_ratio,
    COALESCE(SUM(finding_count), 0)::BIGINT AS finding_count,
    SUM(cost_core_seconds) AS cost_core_seconds,
    TRY_CAST(SUM(read_bytes) AS BIGINT) AS read_bytes,
    TRY_CAST(SUM(write_bytes) AS BIGINT) AS write_bytes,
    MIN(night) AS first_night,
    MAX(night) AS last_night
FROM main.logs
LEFT JOIN per_log USING (cluster, night, log_id)
GROUP BY "user", uid, app
ORDER BY io_core_seconds DESC NULLS LAST, log_count DESC, uid, "user", app
