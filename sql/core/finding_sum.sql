-- ---
-- about = "How often each trigger found something, in all and of each user, what that cost, the facility's part, and whether it grows."
-- grain = ["grouped_by", "user", "uid", "code"]
-- reads = ["core.finding_night", "core.newest_night"]
-- ---
WITH dated AS (
    SELECT finding_night.*, last_night - night AS age, recent_night_count, preceding_night_count
    FROM core.finding_night AS finding_night
    JOIN core.newest_night USING (cluster)
)
SELECT
    CASE GROUPING("user") WHEN 0 THEN 'user and code' ELSE 'code' END AS grouped_by,
    "user", uid, code,
    arg_max(level, night ORDER BY level) AS level,
    TRY_CAST(SUM(finding_count) AS BIGINT) AS finding_count,
    COUNT(DISTINCT uid) AS user_count,
    COUNT(DISTINCT app) AS app_count,
    COUNT(DISTINCT night) AS night_count,
    SUM(cost_core_seconds) AS cost_core_seconds,
    SUM(charged_core_seconds) AS charged_core_seconds,
    TRY_CAST(SUM(facility_finding_count) AS BIGINT) AS facility_finding_count,
    SUM(facility_cost_core_seconds) AS facility_cost_core_seconds,
    MIN(night) AS first_night,
    MAX(night) AS last_night,
    TRY_CAST(COALESCE(SUM(finding_count) FILTER (WHERE age BETWEEN 0 AND 6), 0) AS BIGINT) AS recent_finding_count,
    -- Without logs of a machine in that week, its findings are not known.
    TRY_CAST(CASE
        WHEN bool_and(preceding_night_count > 0)
            THEN COALESCE(SUM(finding_count) FILTER (WHERE age BETWEEN 7 AND 13), 0)
    END AS BIGINT) AS preceding_finding_count,
    CASE
        WHEN bool_and(recent_night_count > 0 AND preceding_night_count > 0)
            THEN
                COALESCE(SUM(finding_count / recent_night_count) FILTER (WHERE age BETWEEN 0 AND 6), 0)
                / SUM(finding_count / preceding_night_count) FILTER (WHERE age BETWEEN 7 AND 13)
    END AS finding_change_ratio
FROM dated
GROUP BY GROUPING SETS (("user", uid, code), (code))
