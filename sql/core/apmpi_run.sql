-- ---
-- about = "MPI time of a run, as its AutoPerf header keeps it."
-- grain = ["log_id"]
-- reads = ["lake.apmpi_run"]
-- ---
SELECT *
FROM lake.apmpi_run
