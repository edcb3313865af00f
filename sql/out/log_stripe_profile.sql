-- ---
-- about = "How one log's files lie on Lustre: big shared files on few OSTs, small files on many."
-- grain = ["log_id"]
-- reads = ["core.log_stripe_profile"]
-- ---
SELECT *
FROM core.log_stripe_profile
