-- ---
-- about = "Who has the same finding night after night: applications of a user on at least three, without what the facility caused."
-- grain = ["user", "uid", "app", "code"]
-- reads = ["core.finding_night", "core.app_night"]
-- ---
WITH found AS (
    SELECT
        "user", uid, app, code, COUNT(DISTINCT night) AS night_count, TRY_CAST(SUM(finding_count) AS BIGINT) AS finding_count,
        SUM(cost_core_seconds) AS cost_core_seconds, SUM(facility_cost_core_seconds) AS facility_cost_core_seconds, MIN(night) AS first_night, MAX(night) AS last_night
    FROM core.finding_night
    -- Of sums that an older version wrote, the facility's part is not known.
    WHERE finding_count > COALESCE(facility_finding_count, 0)
    GROUP BY "user", uid, app, code
    -- Once may be chance, and twice the same job tried again.
    HAVING COUNT(DISTINCT night) >= 3
),
run AS (
    SELECT "user" AS of_user, uid AS of_uid, app AS of_app, COUNT(DISTINCT night) AS run_night_count
    FROM core.app_night
    GROUP BY "user", uid, app
)
SELECT
    "user", uid, app, code, night_count, run_night_count, night_count / run_night_count AS repeat_ratio,
    finding_count, cost_core_seconds, facility_cost_core_seconds, first_night, last_night
FROM found
JOIN run ON "user" IS NOT DISTINCT FROM of_user AND uid IS NOT DISTINCT FROM of_uid AND app IS NOT DISTINCT FROM of_app
ORDER BY
    night_count DESC, cost_core_seconds - COALESCE(facility_cost_core_seconds, 0) DESC NULLS LAST, "user", uid, app, code
