-- ---
-- about = "What Drishti works out of one log's POSIX records, its oddities included; its triggers read no other view of POSIX."
-- grain = ["log_id"]
-- reads = ["lake.drishti_posix"]
-- ---
SELECT *
FROM lake.drishti_posix
