-- ---
-- about = "What logs did, and what their I/O time was spent on."
-- parts = []
-- reads = ["core.run_shape", "core.io_part"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
WITH shape AS (
    SELECT log_id, open_count, file_count, osts_per_file
    FROM core.run_shape
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
),
part AS (
    SELECT log_id, read_part_core_seconds, write_part_core_seconds, meta_part_core_seconds, waiting_part_core_seconds
    FROM core.io_part
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
)
SELECT
    log_id, read_part_core_seconds, write_part_core_seconds, meta_part_core_seconds, waiting_part_core_seconds,
    open_count, file_count, osts_per_file
FROM shape
FULL JOIN part USING (log_id)
