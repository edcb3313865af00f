-- ---
-- about = "How often each trigger found something, of how many users and applications, what that cost, and whether it grows."
-- grain = ["code"]
-- reads = ["core.finding_night", "core.newest_night", "main.triggers"]
-- ---
WITH dated AS (
    SELECT finding_night.*, last_night - night AS age
    FROM core.finding_night AS finding_night
    JOIN core.newest_night USING (cluster)
),
per_code AS (
    SELECT
        code, arg_max(level, night ORDER BY level) AS level,
        SUM(finding_count)::BIGINT AS finding_count,
        COUNT(DISTINCT ("user", uid)) AS user_count,
        COUNT(DISTINCT app) AS app_count,
        COUNT(DISTINCT night) AS night_count,
        SUM(cost_core_seconds) AS cost_core_seconds,
        MIN(night) AS first_night,
        MAX(night) AS last_night,
        COALESCE(SUM(finding_count) FILTER (WHERE age BETWEEN 0 AND 6), 0)::BIGINT AS recent_finding_count,
        COALESCE(SUM(finding_count) FILTER (WHERE age BETWEEN 7 AND 13), 0)::BIGINT AS preceding_finding_count
    FROM dated
    GROUP BY code
)
SELECT per_code.*, title
FROM per_code
LEFT JOIN main.triggers AS triggers ON triggers.code = per_code.code AND triggers.ruleset = 'iomine'
ORDER BY cost_core_seconds DESC NULLS LAST, finding_count DESC, per_code.code
