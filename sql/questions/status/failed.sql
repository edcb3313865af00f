-- ---
-- about = "What could not be worked out of logs, and why, the commonest first, each with one log."
-- parts = []
-- reads = ["main.failed_derivations"]
-- parameters = []
-- ---
SELECT count(*) AS failed_count, derivation, error, any_value(log_id ORDER BY log_id) AS example_log_id
FROM main.failed_derivations
GROUP BY derivation, error
ORDER BY failed_count DESC, derivation, error
LIMIT 20
