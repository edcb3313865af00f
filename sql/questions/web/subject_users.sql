-- ---
-- about = "Whose runs they are, who loses most first."
-- parts = ["subject_run"]
-- reads = []
-- parameters = []
-- ---
SELECT
    "user", uid, sum(cost_core_seconds) / 3600 AS cost_core_hours,
    sum(facility_cost_core_seconds) / 3600 AS facility_cost_core_hours, sum(io_core_seconds) / 3600 AS io_core_hours,
    count(*) AS log_count, sum(finding_count)::BIGINT AS finding_count, max(night) AS last_night
FROM subject_run
GROUP BY "user", uid
ORDER BY
    cost_core_hours - coalesce(facility_cost_core_hours, 0) DESC NULLS LAST, io_core_hours DESC NULLS LAST, log_count DESC, "user", uid
LIMIT 20
