-- ---
-- about = "A file system that was mounted when the log was written."
-- grain = ["log_id", "mount"]
-- reads = ["lake.mount"]
-- ---
SELECT *
FROM lake.mount
