-- ---
-- about = "How one log used MPI-IO: independent and collective calls, blocking ones, and bytes beneath it that nobody asked for."
-- grain = ["log_id"]
-- reads = ["core.log_collective_profile"]
-- ---
SELECT *
FROM core.log_collective_profile
