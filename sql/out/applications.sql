-- ---
-- about = "Applications of all users, those with most I/O time first."
-- grain = ["application"]
-- reads = ["main.logs"]
-- ---
SELECT
    application, COUNT(*) AS log_count, COUNT(DISTINCT uid) AS user_count, COUNT(DISTINCT (cluster, lineage_id)) AS lineage_count,
    MIN(nprocs) AS least_nprocs, MAX(nprocs) AS most_nprocs,
    SUM(io_core_seconds) AS io_core_seconds,
    -- A log whose I/O time is not known must not lower the share of the others.
    SUM(io_core_seconds) / NULLIF(SUM(run_core_seconds) FILTER (WHERE io_core_seconds IS NOT NULL), 0) AS io_ratio,
    TRY_CAST(SUM(read_bytes) AS BIGINT) AS read_bytes, TRY_CAST(SUM(write_bytes) AS BIGINT) AS write_bytes,
    MIN(night) AS first_night, MAX(night) AS last_night
FROM main.logs
WHERE is_owner_confirmed IS DISTINCT FROM false
GROUP BY application
ORDER BY io_core_seconds DESC NULLS LAST, log_count DESC, application
