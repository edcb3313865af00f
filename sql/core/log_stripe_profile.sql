-- ---
-- about = "How one log's files lie on Lustre: big shared files on few OSTs, small files on many."
-- grain = ["log_id"]
-- reads = ["lake.log_stripe_profile"]
-- ---
SELECT *
FROM lake.log_stripe_profile
