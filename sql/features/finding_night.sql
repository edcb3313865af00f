-- ---
-- about = "How often a trigger found something in a user's program in a night, what that cost, and the facility's part of it."
-- grain = ["cluster", "night", "user", "uid", "app", "code", "level"]
-- reads = ["main.findings", "core.owner_doubt"]
-- ---
SELECT
    "user", uid, app, code, level,
    COUNT(*) AS finding_count,
    SUM(cost_core_seconds ORDER BY log_id) AS cost_core_seconds,
    SUM(charged_core_seconds ORDER BY log_id) AS charged_core_seconds,
    COUNT(*) FILTER (is_facility_cause) AS facility_finding_count,
    SUM(cost_core_seconds ORDER BY log_id) FILTER (is_facility_cause) AS facility_cost_core_seconds,
    SUM(charged_core_seconds ORDER BY log_id) FILTER (is_facility_cause) AS facility_charged_core_seconds,
    night, cluster
FROM main.findings
ANTI JOIN core.owner_doubt USING (cluster, night, log_id)
GROUP BY "user", uid, app, code, level, night, cluster
