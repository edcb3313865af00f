-- ---
-- about = "How often a trigger found something in a user's program in a night, what that cost, and the facility's part of both."
-- grain = ["cluster", "night", "user", "uid", "app", "code", "level"]
-- reads = ["core.finding_night", "main.findings", "core.owner_doubt"]
-- ---
-- Sums of nights stay when their logs leave; whose costs they are is known of the logs only.
WITH part AS (
    SELECT
        "user", uid, app, code, level, finding_count, cost_core_seconds, charged_core_seconds, 0 AS facility_finding_count,
        NULL::DOUBLE AS facility_cost_core_seconds, NULL::DOUBLE AS facility_charged_core_seconds, night, cluster
    FROM core.finding_night
    UNION ALL
    SELECT "user", uid, app, code, level, 0, NULL, NULL, 1, cost_core_seconds, charged_core_seconds, night, cluster
    FROM main.findings
    ANTI JOIN core.owner_doubt USING (cluster, night, log_id)
    WHERE is_facility_cause
)
SELECT
    "user", uid, app, code, level,
    TRY_CAST(SUM(finding_count) AS BIGINT) AS finding_count,
    SUM(cost_core_seconds) AS cost_core_seconds,
    SUM(charged_core_seconds) AS charged_core_seconds,
    TRY_CAST(SUM(facility_finding_count) AS BIGINT) AS facility_finding_count,
    SUM(facility_cost_core_seconds ORDER BY facility_cost_core_seconds) AS facility_cost_core_seconds,
    SUM(facility_charged_core_seconds ORDER BY facility_charged_core_seconds) AS facility_charged_core_seconds,
    night, cluster
FROM part
GROUP BY "user", uid, app, code, level, night, cluster
