-- ---
-- about = "What metadata calls of POSIX and stdio cost one log, and how many there were."
-- grain = ["log_id"]
-- reads = ["core.log_meta_profile"]
-- ---
SELECT *
FROM core.log_meta_profile
