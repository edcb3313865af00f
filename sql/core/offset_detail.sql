-- ---
-- about = "Traced requests of one direction on a file, so close in it that a picture shows them as one; small is below 1 MiB."
-- grain = ["log_id", "layer", "file_id", "op", "offset_bytes"]
-- reads = ["lake.offset_detail"]
-- ---
SELECT *
FROM lake.offset_detail
