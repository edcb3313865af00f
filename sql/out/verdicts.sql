-- ---
-- about = "What each trigger says of each log: fired, clear, not applicable to what it did, or unknown, and why."
-- grain = ["log_id", "ruleset", "code"]
-- reads = ["core.verdict"]
-- ---
SELECT log_id, ruleset, code, level, state, value, bar, trigger_version, evidence, night, cluster, cost_core_seconds,
    charged_core_seconds, idle_core_seconds, cause_code, is_facility_cause, reason
FROM core.verdict
