-- ---
-- about = "Phases of logs."
-- parts = []
-- reads = ["main.phases"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT
    log_id, layer, phase, start_seconds, end_seconds, read_bytes, write_bytes, request_count, rank_count, fastest_rank,
    slowest_rank, fastest_rank_seconds, slowest_rank_seconds, straggler_count
FROM main.phases
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
ORDER BY layer, phase
