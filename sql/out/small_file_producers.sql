-- ---
-- about = "Who writes small files, and where: applications of a user on a mount, those with most first."
-- grain = ["user", "uid", "app", "mount", "fs_type"]
-- reads = ["core.mount_night"]
-- ---
SELECT
    "user", uid, app, mount, fs_type,
    TRY_CAST(SUM(log_count) AS BIGINT) AS log_count,
    TRY_CAST(SUM(written_file_count) AS BIGINT) AS written_file_count,
    TRY_CAST(SUM(small_written_file_count) AS BIGINT) AS small_written_file_count,
    SUM(small_written_file_count) / SUM(written_file_count) AS small_written_file_ratio,
    SUM(small_written_core_seconds) AS small_written_core_seconds,
    MIN(night) AS first_night,
    MAX(night) AS last_night
FROM core.mount_night
GROUP BY "user", uid, app, mount, fs_type
HAVING SUM(small_written_file_count) > 0
ORDER BY small_written_file_count DESC, "user", uid, app, mount, fs_type
