-- ---
-- about = "What runs took in I/O, and what findings cost them, by night."
-- parts = ["subject_run"]
-- reads = []
-- parameters = []
-- ---
SELECT
    night, count(*) AS log_count, sum(finding_count)::BIGINT AS finding_count, count(DISTINCT uid) AS user_count,
    sum(io_core_seconds) / 3600 AS io_core_hours, sum(cost_core_seconds) / 3600 AS cost_core_hours,
    sum(facility_cost_core_seconds) / 3600 AS facility_cost_core_hours,
    sum(io_core_seconds) / nullif(sum(run_core_seconds) FILTER (WHERE io_core_seconds IS NOT NULL), 0) AS io_ratio,
    try_cast(sum(read_bytes) AS BIGINT) AS read_bytes, try_cast(sum(write_bytes) AS BIGINT) AS write_bytes
FROM subject_run
GROUP BY night
ORDER BY night DESC
