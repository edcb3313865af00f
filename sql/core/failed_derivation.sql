-- ---
-- about = "What could not be worked out of a log, and why; its other rows are sound."
-- grain = ["log_id", "derivation"]
-- reads = ["lake.failed_derivation"]
-- ---
SELECT *
FROM lake.failed_derivation
