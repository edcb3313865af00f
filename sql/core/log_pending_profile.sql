-- ---
-- about = "Answers that wait for inputs that are not read yet: phases, loads of OSTs, the state of the file system."
-- grain = ["log_id"]
-- reads = ["lake.log_pending_profile"]
-- ---
SELECT *
FROM lake.log_pending_profile
