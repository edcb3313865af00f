-- ---
-- about = "A metadata entry of a log, MPI-IO hints among them."
-- grain = ["log_id", "key"]
-- reads = ["lake.metadata"]
-- ---
SELECT *
FROM lake.metadata
