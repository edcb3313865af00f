-- ---
-- about = "How often one log told the system to write data out, after how little, and what that cost."
-- grain = ["log_id"]
-- reads = ["lake.log_sync_profile"]
-- ---
SELECT *
FROM lake.log_sync_profile
