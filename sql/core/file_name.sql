-- ---
-- about = "The name behind a record id in one log, with the mount that it lies on."
-- grain = ["log_id", "file_id"]
-- reads = ["lake.file_name"]
-- ---
SELECT *
FROM lake.file_name
