-- ---
-- about = "Who lost most in requests that findings are about."
-- parts = []
-- reads = ["core.app_night"]
-- parameters = ["first_night", "last_night"]
-- ---
SELECT
    "user", uid, app, sum(cost_core_seconds) AS cost_core_seconds, sum(finding_count)::BIGINT AS finding_count,
    sum(log_count)::BIGINT AS log_count
FROM core.app_night
WHERE night BETWEEN $first_night AND $last_night
GROUP BY "user", uid, app
HAVING sum(cost_core_seconds) > 0
ORDER BY cost_core_seconds DESC, uid, "user", app
