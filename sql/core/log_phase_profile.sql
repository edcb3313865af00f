-- ---
-- about = "The phases of I/O of one log as a whole: how many there are, and in how many of them a rank straggled."
-- grain = ["log_id"]
-- reads = ["lake.log_phase_profile"]
-- ---
SELECT *
FROM lake.log_phase_profile
