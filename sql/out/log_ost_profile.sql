-- ---
-- about = "How one log's bytes lie on the OSTs of Lustre: how many OSTs it used, and how much more the busiest got."
-- grain = ["log_id"]
-- reads = ["core.log_ost_profile"]
-- ---
SELECT *
FROM core.log_ost_profile
