-- ---
-- about = "One module of a log, and whether its records could be read."
-- grain = ["log_id", "module"]
-- reads = ["lake.module"]
-- ---
SELECT *
FROM lake.module
