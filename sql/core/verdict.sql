-- ---
-- about = "What one trigger says of one log."
-- grain = ["log_id", "ruleset", "code"]
-- reads = ["lake.verdict"]
-- ---
SELECT *
FROM lake.verdict
