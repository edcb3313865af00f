-- ---
-- about = "Of which applications the runs are, those that lose most first."
-- parts = ["subject_run"]
-- reads = []
-- parameters = []
-- ---
SELECT
    application, sum(cost_core_seconds) / 3600 AS cost_core_hours,
    sum(facility_cost_core_seconds) / 3600 AS facility_cost_core_hours, sum(io_core_seconds) / 3600 AS io_core_hours,
    sum(io_core_seconds) / nullif(sum(run_core_seconds) FILTER (WHERE io_core_seconds IS NOT NULL), 0) AS io_ratio,
    count(*) AS log_count, sum(finding_count)::BIGINT AS finding_count, max(night) AS last_night
FROM subject_run
GROUP BY application
ORDER BY
    cost_core_hours - coalesce(facility_cost_core_hours, 0) DESC NULLS LAST, io_core_hours DESC NULLS LAST, log_count DESC, application
LIMIT 20
