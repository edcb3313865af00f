-- ---
-- about = "Verdicts except clear ones, the costliest first, with what their triggers find and need."
-- parts = []
-- reads = ["core.verdict", "main.triggers"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT log_id, code, verdict.level, state, value, bar, evidence, finding, advice, cost_core_seconds, charged_core_seconds,
    idle_core_seconds, cause_code, is_facility_cause, reason,
    coalesce(title, code) AS title, coalesce(needs, 'a trigger that is no more') AS needs
FROM core.verdict AS verdict
LEFT JOIN main.triggers AS trigger USING (ruleset, code)
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id) AND ruleset = 'iomine' AND state <> 'clear'
ORDER BY cost_core_seconds + coalesce(idle_core_seconds, 0) DESC NULLS LAST, code
