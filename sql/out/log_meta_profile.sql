-- ---
-- about = "What metadata calls cost one log; its times are those of POSIX calls, so that part and whole agree."
-- grain = ["log_id"]
-- reads = ["core.log_meta_profile"]
-- ---
SELECT *
FROM core.log_meta_profile
