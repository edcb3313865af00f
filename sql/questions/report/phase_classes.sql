-- ---
-- about = "The twelve phase classes of a log that move most, in the order of time, with where their time goes and how IOR replays them."
-- parts = []
-- reads = ["main.phase_class"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT
    log_id, phase_class, layer, op, evidence, access, is_collective, request_order, phase_count, rank_count, requests_per_rank,
    request_bytes, bytes_per_rank, file_count, file_id, largest_path, start_seconds, end_seconds, gap_seconds, period_seconds,
    moved_bytes, weight_ratio, is_relevant, rank_call_seconds, rank_wait_seconds, rank_exchange_seconds,
    -- Where waiting and storage overlap, exchange is 0 and storage has the rest.
    CASE WHEN rank_wait_seconds IS NOT NULL THEN GREATEST(0, rank_call_seconds - rank_wait_seconds - rank_exchange_seconds) END
        AS rank_storage_seconds,
    storage_seconds, overcount_seconds, rank_meta_seconds, ior_options, replay_fidelity, replay_reason,
    COUNT(*) OVER of_log AS log_class_count,
    CASE WHEN COUNT(moved_bytes) OVER of_log = COUNT(*) OVER of_log THEN SUM(moved_bytes) OVER of_log END::BIGINT AS log_class_bytes
FROM main.phase_class
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
WINDOW of_log AS (PARTITION BY log_id)
QUALIFY row_number() OVER (PARTITION BY log_id ORDER BY weight_ratio DESC NULLS LAST, phase_class) <= 12
ORDER BY log_id, phase_class
