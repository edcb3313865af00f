-- ---
-- about = "Over how many OSTs, and in stripes of how many bytes, files of logs lie; those that moved most first."
-- parts = []
-- reads = ["core.lustre_component", "main.files"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
WITH placed AS (
    SELECT log_id, file_id, max(len(ost_ids)) AS ost_count, arg_max(stripe_bytes, len(ost_ids)) AS stripe_bytes
    FROM core.lustre_component
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
    GROUP BY ALL
),
moved AS (
    SELECT log_id, file_id, coalesce(read_bytes::DOUBLE, 0) + coalesce(write_bytes, 0) AS moved_bytes
    FROM main.files
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
)
SELECT log_id, ost_count, stripe_bytes, count(*) AS file_count, sum(moved_bytes) AS moved_bytes
FROM placed
JOIN moved USING (log_id, file_id)
GROUP BY log_id, ost_count, stripe_bytes
ORDER BY moved_bytes DESC, ost_count, stripe_bytes
