-- ---
-- about = "How long the ranks of one log waited for each other within MPI-IO, and for whom."
-- grain = ["log_id"]
-- reads = ["core.log_wait_profile"]
-- ---
SELECT *
FROM core.log_wait_profile
