-- ---
-- about = "What metadata calls of POSIX and stdio cost one log, and how many there were."
-- grain = ["log_id"]
-- reads = ["lake.log_meta_profile"]
-- ---
SELECT *
FROM lake.log_meta_profile
