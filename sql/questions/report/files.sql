-- ---
-- about = "The twenty files of a log that took most time, each with the totals of all."
-- parts = []
-- reads = ["main.files", "core.lustre_component"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
WITH timed AS (
    SELECT *, coalesce(read_seconds, 0) + coalesce(write_seconds, 0) + coalesce(meta_seconds, 0) AS io_seconds
    FROM main.files
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
),
placed AS (
    SELECT log_id, file_id, max(len(ost_ids)) AS ost_count
    FROM core.lustre_component
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
    GROUP BY ALL
)
SELECT
    log_id, path, mount, fs_type, is_shared, rank_count, ost_count, read_bytes, write_bytes, read_count, write_count, io_seconds,
    count(*) OVER log AS log_file_count,
    sum(read_bytes::DOUBLE) OVER log AS log_read_bytes, sum(write_bytes::DOUBLE) OVER log AS log_write_bytes,
    sum(io_seconds) OVER log AS log_io_seconds
FROM timed
LEFT JOIN placed USING (log_id, file_id)
WINDOW log AS (PARTITION BY log_id)
QUALIFY row_number() OVER (PARTITION BY log_id ORDER BY io_seconds DESC, path, file_id) <= 20
ORDER BY io_seconds DESC, path
