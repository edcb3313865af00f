-- ---
-- about = "The traced requests of one direction on a file in a layer: how much they moved, and in what order."
-- grain = ["log_id", "layer", "file_id", "op"]
-- reads = ["lake.file_access"]
-- ---
SELECT *
FROM lake.file_access
