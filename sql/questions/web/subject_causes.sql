-- ---
-- about = "Causes of what is found in runs: what users lose most by first, and the facility's causes last."
-- parts = ["subject_run"]
-- reads = ["main.findings", "main.triggers"]
-- parameters = ["since", "until"]
-- ---
WITH per_log AS (
    SELECT
        coalesce(cause_code, code) AS code, cluster, night, log_id, sum(charged_core_seconds) AS charged_core_seconds,
        sum(charged_core_seconds * is_facility_cause::INTEGER) AS facility_core_seconds
    FROM main.findings
    SEMI JOIN subject_run USING (cluster, night, log_id)
    WHERE night BETWEEN $since AND $until
    GROUP BY ALL
)
SELECT
    per_log.code, any_value(title) AS title, sum(charged_core_seconds) / 3600 AS cost_core_hours,
    sum(facility_core_seconds) / 3600 AS facility_cost_core_hours, count(*) AS log_count,
    max(night) AS last_night, arg_max(log_id, coalesce(charged_core_seconds, 0) ORDER BY log_id) AS log_id
FROM per_log
LEFT JOIN main.triggers AS trigger ON trigger.code = per_log.code AND trigger.ruleset = 'iomine'
GROUP BY per_log.code
ORDER BY
    cost_core_hours - coalesce(facility_cost_core_hours, 0) DESC NULLS LAST, cost_core_hours DESC NULLS LAST, log_count DESC, per_log.code
