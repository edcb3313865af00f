-- ---
-- about = "Findings: the fired high and warn verdicts of the default ruleset, with what to change and what it cost."
-- grain = ["log_id", "code"]
-- reads = ["core.verdict", "core.log"]
-- ---
SELECT
    verdict.log_id, verdict.cluster, verdict.night, log.job_id, log.uid, log."user", log.app, log.application, log.lineage_id,
    verdict.code, verdict.level, verdict.finding, verdict.advice, verdict.evidence, verdict.cost_core_seconds, verdict.charged_core_seconds,
    verdict.idle_core_seconds, verdict.cause_code, verdict.is_facility_cause, verdict.value, verdict.bar,
    'reports/' || verdict.log_id || '.html#' || verdict.code AS report
FROM core.verdict AS verdict
LEFT JOIN core.log AS log USING (cluster, night, log_id)
WHERE verdict.ruleset = 'iomine' AND verdict.state = 'fired' AND verdict.level IN ('high', 'warn')
