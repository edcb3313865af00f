-- ---
-- about = "What was done on each mounted file system in a night; a file counts once for each log that touched it."
-- grain = ["cluster", "night", "mount", "fs_type"]
-- reads = ["core.mount_night"]
-- ---
SELECT
    mount, fs_type,
    COUNT(DISTINCT uid) AS user_count,
    TRY_CAST(SUM(log_count) AS BIGINT) AS log_count,
    TRY_CAST(SUM(file_count) AS BIGINT) AS file_count,
    TRY_CAST(SUM(written_file_count) AS BIGINT) AS written_file_count,
    TRY_CAST(SUM(small_written_file_count) AS BIGINT) AS small_written_file_count,
    TRY_CAST(SUM(read_bytes) AS BIGINT) AS read_bytes,
    TRY_CAST(SUM(write_bytes) AS BIGINT) AS write_bytes,
    SUM(io_core_seconds) AS io_core_seconds,
    SUM(meta_core_seconds) AS meta_core_seconds,
    night, cluster
FROM core.mount_night
GROUP BY mount, fs_type, night, cluster
