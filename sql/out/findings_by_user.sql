-- ---
-- about = "How often each trigger found something of each user, what that cost, and whether it grows."
-- grain = ["user", "uid", "code"]
-- reads = ["core.finding_night", "core.newest_night"]
-- ---
WITH dated AS (
    SELECT finding_night.*, last_night - night AS age
    FROM core.finding_night AS finding_night
    JOIN core.newest_night USING (cluster)
)
SELECT
    "user", uid, code,
    SUM(finding_count)::BIGINT AS finding_count,
    COUNT(DISTINCT app) AS app_count,
    COUNT(DISTINCT night) AS night_count,
    SUM(cost_core_seconds) AS cost_core_seconds,
    MIN(night) AS first_night,
    MAX(night) AS last_night,
    COALESCE(SUM(finding_count) FILTER (WHERE age BETWEEN 0 AND 6), 0)::BIGINT AS recent_finding_count,
    COALESCE(SUM(finding_count) FILTER (WHERE age BETWEEN 7 AND 13), 0)::BIGINT AS preceding_finding_count
FROM dated
GROUP BY "user", uid, code
ORDER BY cost_core_seconds DESC NULLS LAST, finding_count DESC, "user", uid, code
