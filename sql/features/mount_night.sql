-- ---
-- about = "What a user's program did on a mounted file system in a night; a file counts once for each log that touched it."
-- grain = ["cluster", "night", "user", "uid", "app", "mount", "fs_type"]
-- reads = ["main.files", "core.log", "core.owner_doubt"]
-- ---
WITH touched AS (
    SELECT
        *, write_bytes > 0 AS is_written,
        -- The size of objects without offsets, such as those of DAOS, is not known.
        -- A MiB, whatever a site calls small of a log (small_file_bytes): sums that stay for years must mean one thing.
        write_bytes > 0 AND extent_bytes < 1048576 AS is_small
    FROM main.files
    WHERE path IS NULL OR path NOT IN ('<STDIN>', '<STDOUT>', '<STDERR>')
)
SELECT
    "user", uid, app, mount, fs_type,
    COUNT(DISTINCT log_id) AS log_count,
    COUNT(*) AS file_count,
    COUNT(*) FILTER (WHERE is_written) AS written_file_count,
    COUNT(*) FILTER (WHERE is_small) AS small_written_file_count,
    TRY_CAST(SUM(touched.read_bytes) AS BIGINT) AS read_bytes,
    TRY_CAST(SUM(touched.write_bytes) AS BIGINT) AS write_bytes,
    SUM(touched.io_core_seconds ORDER BY log_id, file_id) AS io_core_seconds,
    SUM(touched.meta_seconds ORDER BY log_id, file_id) AS meta_core_seconds,
    SUM(touched.io_core_seconds ORDER BY log_id, file_id) FILTER (WHERE is_small) AS small_written_core_seconds,
    night, cluster
FROM touched
JOIN core.log AS log USING (cluster, night, log_id)
ANTI JOIN core.owner_doubt USING (cluster, night, log_id)
GROUP BY "user", uid, app, mount, fs_type, night, cluster
