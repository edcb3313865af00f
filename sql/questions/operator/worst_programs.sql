-- ---
-- about = "Who lost most that they can change."
-- parts = []
-- reads = ["core.app_night"]
-- parameters = ["first_night", "last_night"]
-- ---
SELECT
    "user", uid, app, sum(cost_core_seconds) AS cost_core_seconds,
    sum(facility_cost_core_seconds) AS facility_cost_core_seconds, sum(finding_count)::BIGINT AS finding_count,
    sum(log_count)::BIGINT AS log_count
FROM core.app_night
WHERE night BETWEEN $first_night AND $last_night
GROUP BY "user", uid, app
HAVING sum(cost_core_seconds) > coalesce(sum(facility_cost_core_seconds), 0)
ORDER BY sum(cost_core_seconds) - coalesce(sum(facility_cost_core_seconds), 0) DESC, uid, "user", app
