-- ---
-- about = "What MPI-IO made of the requests of one log: collective calls that came to nothing, and reads for the sake of writes."
-- grain = ["log_id"]
-- reads = ["lake.log_transform_profile"]
-- ---
SELECT *
FROM lake.log_transform_profile
