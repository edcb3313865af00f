-- ---
-- about = "The files of one log: how many belong to one rank alone, how many are small, and what went through stdio."
-- grain = ["log_id"]
-- reads = ["core.log_file_profile"]
-- ---
SELECT *
FROM core.log_file_profile
