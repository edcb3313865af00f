-- ---
-- about = "What Drishti works out of one log's MPI-IO records, and whether it has any; split calls are not counted, as there."
-- grain = ["log_id"]
-- reads = ["lake.drishti_mpiio"]
-- ---
SELECT *
FROM lake.drishti_mpiio
