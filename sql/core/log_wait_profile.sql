-- ---
-- about = "How long the ranks of one log waited for each other within MPI-IO, and for whom."
-- grain = ["log_id"]
-- reads = ["lake.log_wait_profile"]
-- ---
SELECT *
FROM lake.log_wait_profile
