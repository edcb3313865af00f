-- ---
-- about = "How often one log told the system to write data out, after how little, and what that cost."
-- grain = ["log_id"]
-- reads = ["core.log_sync_profile"]
-- ---
SELECT *
FROM core.log_sync_profile
