-- ---
-- about = "Numbers of nights, one row each."
-- parts = ["narrowed_night"]
-- reads = []
-- parameters = []
-- ---
SELECT
    -- Sums of nights stay when their logs leave.
    night, sum(log_count)::BIGINT AS log_count, sum(io_core_seconds) AS io_core_seconds,
    -- A log whose I/O time is not known must not lower the share of the others.
    sum(io_core_seconds) / nullif(sum(timed_core_seconds), 0) AS io_ratio,
    sum(finding_count)::BIGINT AS finding_count, sum(cost_core_seconds) AS cost_core_seconds,
    sum(facility_cost_core_seconds) AS facility_cost_core_seconds
FROM narrowed_night
GROUP BY night
ORDER BY night
