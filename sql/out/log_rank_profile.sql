-- ---
-- about = "How evenly the ranks of one log shared its I/O: stragglers, bytes by rank, what rank 0 did for all."
-- grain = ["log_id"]
-- reads = ["core.log_rank_profile"]
-- ---
SELECT *
FROM core.log_rank_profile
