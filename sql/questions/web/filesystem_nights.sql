-- ---
-- about = "What was done on a file system by night."
-- parts = ["filesystem_use"]
-- reads = []
-- parameters = []
-- ---
SELECT
    night, sum(log_count)::BIGINT AS log_count, sum(io_core_seconds) / 3600 AS io_core_hours,
    sum(meta_core_seconds) / 3600 AS meta_core_hours, try_cast(sum(read_bytes) AS BIGINT) AS read_bytes,
    try_cast(sum(write_bytes) AS BIGINT) AS write_bytes, try_cast(sum(file_count) AS BIGINT) AS file_count,
    try_cast(sum(written_file_count) AS BIGINT) AS written_file_count,
    try_cast(sum(small_written_file_count) AS BIGINT) AS small_written_file_count
FROM filesystem_use
GROUP BY night
ORDER BY night DESC
