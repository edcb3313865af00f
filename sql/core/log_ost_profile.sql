-- ---
-- about = "How one log's bytes lie on the OSTs of Lustre, how much more the busiest got, and which OSTs were slow."
-- grain = ["log_id"]
-- reads = ["lake.log_ost_profile"]
-- ---
SELECT *
FROM lake.log_ost_profile
