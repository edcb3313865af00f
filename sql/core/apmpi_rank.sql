-- ---
-- about = "MPI time of a rank."
-- grain = ["log_id", "rank"]
-- reads = ["lake.apmpi_rank"]
-- ---
SELECT *
FROM lake.apmpi_rank
