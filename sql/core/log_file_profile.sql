-- ---
-- about = "The files of one log: how many belong to one rank alone, how many are small, and what went through stdio."
-- grain = ["log_id"]
-- reads = ["lake.log_file_profile"]
-- ---
-- Before the size was a setting, it was a MiB.
SELECT * REPLACE (COALESCE(small_file_bytes, 1048576) AS small_file_bytes)
FROM lake.log_file_profile
