-- ---
-- about = "What is found in runs, the costliest first."
-- parts = ["subject_run"]
-- reads = ["main.findings", "main.triggers"]
-- parameters = ["since", "until"]
-- ---
SELECT
    finding.code, any_value(title) AS title, sum(charged_core_seconds) / 3600 AS cost_core_hours, count(*) AS log_count,
    max(finding.night) AS last_night, arg_max(finding.log_id, coalesce(charged_core_seconds, 0) ORDER BY finding.log_id) AS log_id
FROM main.findings AS finding
SEMI JOIN subject_run USING (cluster, night, log_id)
LEFT JOIN main.triggers AS trigger ON trigger.code = finding.code AND trigger.ruleset = 'iomine'
WHERE finding.night BETWEEN $since AND $until
GROUP BY finding.code
ORDER BY cost_core_hours DESC NULLS LAST, log_count DESC, finding.code
