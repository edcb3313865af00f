-- ---
-- about = "Which findings are new, gone, more or less; grouped by all of user, uid, app and code, or by some of them; the others are NULL then."
-- parts = ["run"]
-- reads = ["main.verdicts"]
-- parameters = ["by_user", "by_app", "by_code", "same_ratio"]
-- ---
WITH keyed AS (
    SELECT
        cluster, night, log_id, is_after, CASE WHEN $by_user THEN "user" END AS "user", CASE WHEN $by_user THEN uid END AS uid,
        CASE WHEN $by_app THEN app END AS app
    FROM run
),
runs AS (
    SELECT
        "user", uid, app, count(*) FILTER (WHERE NOT is_after) AS log_count_before, count(*) FILTER (WHERE is_after) AS log_count,
        -- Ranges of unlike length are compared night by night.
        (SELECT count(DISTINCT night) FILTER (WHERE NOT is_after) / count(DISTINCT night) FILTER (WHERE is_after) FROM run)
            AS night_ratio
    FROM keyed
    GROUP BY "user", uid, app
),
log_judged AS (
    SELECT
        "user", uid, app, CASE WHEN $by_code THEN code END AS code, log_id, is_after,
        count(*) FILTER (WHERE state <> 'unknown') AS assessed_count,
        count(*) FILTER (WHERE state = 'fired' AND level IN ('high', 'warn')) AS finding_count,
        sum(charged_core_seconds) AS cost, sum(charged_core_seconds * is_facility_cause::INTEGER) AS facility_cost
    FROM keyed
    JOIN (SELECT * FROM main.verdicts WHERE ruleset = 'iomine') AS verdict USING (cluster, night, log_id)
    GROUP BY ALL
),
judged AS (
    SELECT
        "user", uid, app, code,
        sum(finding_count) FILTER (WHERE NOT is_after) AS found_before, sum(finding_count) FILTER (WHERE is_after) AS found_after,
        sum(cost) FILTER (WHERE NOT is_after) AS cost_before, sum(cost) FILTER (WHERE is_after) AS cost_after,
        sum(facility_cost) FILTER (WHERE NOT is_after) AS facility_cost_before,
        sum(facility_cost) FILTER (WHERE is_after) AS facility_cost_after,
        coalesce(cost_before, 0) - coalesce(facility_cost_before, 0) AS own_before,
        coalesce(cost_after, 0) - coalesce(facility_cost_after, 0) AS own_after,
        sum(assessed_count) FILTER (WHERE is_after) AS assessed_after
    FROM log_judged
    GROUP BY ALL
    HAVING sum(finding_count) > 0
),
weighed AS (
    SELECT
        judged."user", judged.uid, judged.app, judged.code, log_count_before, log_count,
        coalesce(found_before, 0)::BIGINT AS finding_count_before, coalesce(found_after, 0)::BIGINT AS finding_count,
        cost_before AS cost_core_seconds_before, cost_after AS cost_core_seconds, assessed_after,
        facility_cost_before AS facility_cost_core_seconds_before, facility_cost_after AS facility_cost_core_seconds,
        own_before, own_after, coalesce(cost_before, cost_after) IS NOT NULL AS has_cost,
        -- Weighed by the part that users can change; by the whole where the facility caused all of it.
        own_before > 0 OR own_after > 0 AS is_users,
        CASE WHEN is_users THEN own_before WHEN has_cost THEN coalesce(cost_before, 0) ELSE finding_count_before END AS weight_before,
        CASE WHEN is_users THEN own_after WHEN has_cost THEN coalesce(cost_after, 0) ELSE finding_count END * night_ratio AS weight_after
    FROM judged
    JOIN runs
        ON runs."user" IS NOT DISTINCT FROM judged."user" AND runs.uid IS NOT DISTINCT FROM judged.uid
        AND runs.app IS NOT DISTINCT FROM judged.app
),
classed AS (
    SELECT
        CASE
            WHEN finding_count_before = 0 THEN 'new'
            WHEN finding_count > 0 AND weight_after > (1 + $same_ratio) * weight_before THEN 'more'
            WHEN finding_count > 0 AND weight_after < (1 - $same_ratio) * weight_before THEN 'less'
            WHEN finding_count > 0 THEN 'same'
            WHEN log_count = 0 THEN 'not run'
            WHEN coalesce(assessed_after, 0) = 0 THEN 'unknown'
            ELSE 'gone'
        END AS change,
        *
    FROM weighed
)
SELECT
    change, "user", uid, app, code, finding_count_before, finding_count, cost_core_seconds_before, cost_core_seconds,
    facility_cost_core_seconds_before, facility_cost_core_seconds, log_count_before, log_count
FROM classed
WHERE change <> 'same'
ORDER BY
    abs(own_after - own_before) DESC, abs(coalesce(cost_core_seconds, 0) - coalesce(cost_core_seconds_before, 0)) DESC, change, "user", uid, app, code
