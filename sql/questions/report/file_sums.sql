-- ---
-- about = "Files of a log by what was done to them, and by mount: how many, how large, and what was moved."
-- parts = []
-- reads = ["main.files"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT
    log_id, grouping(file_kind) = 1 AS is_of_mount, file_kind, mount, fs_type, count(*) AS file_count,
    count(extent_bytes) AS sized_file_count, sum(extent_bytes::DOUBLE) AS extent_bytes, max(extent_bytes) AS most_extent_bytes,
    sum(read_bytes::DOUBLE) AS read_bytes, sum(write_bytes::DOUBLE) AS write_bytes
FROM (
    SELECT
        -- A file of which nothing was touched has no extent.
        * REPLACE (CASE WHEN read_bytes > 0 OR write_bytes > 0 THEN extent_bytes END AS extent_bytes),
        CASE
            WHEN read_bytes > 0 AND write_bytes > 0 THEN 'both'
            WHEN read_bytes > 0 THEN 'read'
            WHEN write_bytes > 0 THEN 'write'
            ELSE 'neither'
        END AS file_kind
    FROM main.files
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
)
GROUP BY GROUPING SETS ((log_id, file_kind), (log_id, mount, fs_type))
ORDER BY coalesce(sum(read_bytes::DOUBLE), 0) + coalesce(sum(write_bytes::DOUBLE), 0) DESC, count(*) DESC, file_kind, mount
