-- ---
-- about = "Answers that wait for an input that is not read yet: the state of the file system while a log ran."
-- grain = ["log_id"]
-- reads = ["lake.log_pending_profile"]
-- ---
SELECT *
FROM lake.log_pending_profile
