-- ---
-- about = "Who wrote files that no log has read in all nights that are kept; files that were read without Darshan, or under another name, look unread."
-- grain = ["cluster", "user", "uid", "mount", "fs_type"]
-- reads = ["main.files", "core.log", "core.owner_doubt"]
-- ---
-- A file is known by a hash of its path, which is the same in all logs. So a file that was renamed after it was written
-- looks unread; so does what was copied, archived or looked at by programs without a log, mapped into memory, read before the
-- first night or after the last, or by a run that Darshan had no record left for.
WITH per_user AS (
    SELECT
        cluster, file_id, "user", uid, mount, fs_type,
        SUM(files.write_bytes) AS written, MIN(night) AS first_night, MAX(night) AS last_night,
        -- If a log does not show whether the file was read, it may have been.
        bool_or(COALESCE(files.read_bytes > 0, true)) AS was_read
    FROM main.files AS files
    JOIN core.log AS log USING (cluster, night, log_id)
    ANTI JOIN core.owner_doubt USING (cluster, night, log_id)
    GROUP BY ALL
),
known AS (
    SELECT *, NOT bool_or(was_read) OVER (PARTITION BY cluster, file_id) AS is_unread
    FROM per_user
)
SELECT
    "user", uid, mount, fs_type,
    COUNT(*) AS written_file_count,
    COUNT(*) FILTER (WHERE is_unread) AS unread_file_count,
    TRY_CAST(SUM(written) AS BIGINT) AS write_bytes,
    TRY_CAST(COALESCE(SUM(written) FILTER (WHERE is_unread), 0) AS BIGINT) AS unread_bytes,
    COALESCE(SUM(written) FILTER (WHERE is_unread), 0) / SUM(written) AS unread_ratio,
    MIN(first_night) AS first_night,
    MAX(last_night) AS last_night,
    cluster
FROM known
WHERE written > 0
GROUP BY "user", uid, mount, fs_type, cluster
ORDER BY unread_bytes DESC NULLS LAST, "user", uid, mount, fs_type, cluster
