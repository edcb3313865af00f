-- ---
-- about = "Bytes and stripes of a file that traced requests of one direction in a layer touch more than once."
-- grain = ["log_id", "layer", "file_id", "op"]
-- reads = ["core.file_overlap"]
-- ---
SELECT *
FROM core.file_overlap
