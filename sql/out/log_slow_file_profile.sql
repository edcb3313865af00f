-- ---
-- about = "The files of one log whose requests took far longer than those of files alike: same directory, size and access."
-- grain = ["log_id"]
-- reads = ["core.log_slow_file_profile"]
-- ---
SELECT *
FROM core.log_slow_file_profile
