-- ---
-- about = "What nights were like."
-- parts = []
-- reads = ["core.app_night"]
-- # NULL for all nights, and for all clusters.
-- parameters = ["first_night", "cluster"]
-- ---
SELECT
    -- Sums of nights stay when their logs leave.
    night, sum(log_count)::BIGINT AS log_count, sum(io_core_seconds) AS io_core_seconds,
    -- A log whose I/O time is not known must not thin out the share of the others.
    sum(io_core_seconds) / nullif(sum(timed_core_seconds), 0) AS io_ratio,
    sum(finding_count)::BIGINT AS finding_count, sum(cost_core_seconds) AS cost_core_seconds
FROM core.app_night
WHERE ($first_night::DATE IS NULL OR night >= $first_night::DATE) AND ($cluster::VARCHAR IS NULL OR cluster = $cluster::VARCHAR)
GROUP BY night
ORDER BY night
