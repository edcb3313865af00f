-- ---
-- about = "What each trigger says of each log: fired, clear, or unknown where it could not be assessed."
-- grain = ["log_id", "ruleset", "code"]
-- reads = ["core.verdict"]
-- ---
SELECT log_id, ruleset, code, level, state, value, bar, trigger_version, evidence, night, cluster, cost_core_seconds
FROM core.verdict
