-- ---
-- about = "Who loses most that they can change: users, applications, accounts, and each user's applications, with the facility's part and the trend."
-- grain = ["grouped_by", "user", "uid", "app", "account"]
-- reads = ["core.app_night", "core.newest_night"]
-- ---
WITH dated AS (
    SELECT
        app_night.*, cost_core_seconds - COALESCE(facility_cost_core_seconds, 0) AS users_part,
        last_night - night AS age, recent_night_count, preceding_night_count
    FROM core.app_night AS app_night
    JOIN core.newest_night USING (cluster)
),
summed AS (
    SELECT
        CASE GROUPING("user", app) WHEN 0 THEN 'user and app' WHEN 1 THEN 'user' WHEN 2 THEN 'app' ELSE 'account' END AS grouped_by,
        "user", uid, app,
        -- Beside an account's own rows, all accounts that the row's logs were charged to.
        CASE GROUPING(account) WHEN 0 THEN account ELSE string_agg(DISTINCT account, ', ' ORDER BY account) END AS account,
        TRY_CAST(SUM(log_count) AS BIGINT) AS log_count,
        SUM(io_core_seconds) AS io_core_seconds,
        SUM(run_core_seconds) AS run_core_seconds,
        -- A log whose I/O time is not known must not lower the share of the others.
        SUM(io_core_seconds) / NULLIF(SUM(timed_core_seconds), 0) AS io_ratio,
        TRY_CAST(SUM(finding_count) AS BIGINT) AS finding_count,
        SUM(cost_core_seconds) AS cost_core_seconds,
        SUM(facility_cost_core_seconds) AS facility_cost_core_seconds,
        TRY_CAST(SUM(read_bytes) AS BIGINT) AS read_bytes,
        TRY_CAST(SUM(write_bytes) AS BIGINT) AS write_bytes,
        MIN(night) AS first_night,
        MAX(night) AS last_night,
        TRY_CAST(SUM(finding_log_count) AS BIGINT) AS finding_log_count,
        TRY_CAST(SUM(doubtful_log_count) AS BIGINT) AS doubtful_log_count,
        SUM(cost_core_seconds) FILTER (WHERE age BETWEEN 0 AND 6) AS recent_cost_core_seconds,
        SUM(facility_cost_core_seconds) FILTER (WHERE age BETWEEN 0 AND 6) AS recent_facility_cost_core_seconds,
        SUM(cost_core_seconds) FILTER (WHERE age BETWEEN 7 AND 13) AS preceding_cost_core_seconds,
        SUM(facility_cost_core_seconds) FILTER (WHERE age BETWEEN 7 AND 13) AS preceding_facility_cost_core_seconds,
        -- A machine may have fewer nights in one of the weeks, or be new: nights are held against nights.
        COALESCE(SUM(users_part / recent_night_count) FILTER (WHERE age BETWEEN 0 AND 6), 0) AS recent_per_night,
        SUM(users_part / preceding_night_count) FILTER (WHERE age BETWEEN 7 AND 13) AS preceding_per_night,
        bool_and(recent_night_count > 0 AND preceding_night_count > 0) AS is_comparable
    FROM dated
    GROUP BY GROUPING SETS (("user", uid, app), ("user", uid), (app), (account))
)
SELECT
    * EXCLUDE (recent_per_night, preceding_per_night, is_comparable),
    CASE WHEN is_comparable THEN recent_per_night / NULLIF(preceding_per_night, 0) END AS cost_change_ratio
FROM summed
ORDER BY
    grouped_by, cost_core_seconds - COALESCE(facility_cost_core_seconds, 0) DESC NULLS LAST, io_core_seconds DESC NULLS LAST,
    log_count DESC, uid, "user", app, account
