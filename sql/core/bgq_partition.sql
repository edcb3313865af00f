-- ---
-- about = "The Blue Gene/Q partition that a run had."
-- grain = ["log_id", "file_id", "rank"]
-- reads = ["lake.bgq_partition"]
-- ---
SELECT *
FROM lake.bgq_partition
