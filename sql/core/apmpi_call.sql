-- ---
-- about = "MPI calls of one kind by a rank; calls whose counters are all zero have no row."
-- grain = ["log_id", "rank", "mpi_call"]
-- reads = ["lake.apmpi_call"]
-- ---
SELECT *
FROM lake.apmpi_call
