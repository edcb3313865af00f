-- ---
-- about = "What a log did in one layer as a whole, and how fast that was by Darshan's estimate, which waits for the slowest rank."
-- grain = ["log_id", "layer"]
-- reads = ["core.log_layer"]
-- ---
SELECT
    log_id, layer, file_count, read_bytes, write_bytes, read_count, write_count,
    read_core_seconds, write_core_seconds, meta_core_seconds, slowest_io_seconds, moved_bytes_per_second,
    night, cluster
FROM core.log_layer
