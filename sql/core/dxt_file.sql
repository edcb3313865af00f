-- ---
-- about = "The trace of a rank on a file: how many requests it holds."
-- grain = ["log_id", "layer", "file_id", "rank"]
-- reads = ["lake.dxt_file"]
-- ---
SELECT *
FROM lake.dxt_file
