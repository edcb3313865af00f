-- ---
-- about = "How long the phase classes of logs would take on systems, and from which test of IOR, or which IOR line to run."
-- parts = []
-- reads = ["main.class_predictions"]
-- # system: NULL for all.
-- parameters = ["cluster", "log_ids", "first_night", "system"]
-- ---
SELECT
    log_id, system, phase_class, layer, op, rank_count, request_bytes, moved_bytes, is_relevant, rank_wait_seconds,
    rank_exchange_seconds, predicted_seconds, least_predicted_seconds, most_predicted_seconds, ior_distance, repetition_count,
    output_path, test, reason, ior_line
FROM main.class_predictions
WHERE
    cluster = $cluster AND night >= $first_night::DATE AND list_contains($log_ids, log_id)
    AND ($system::VARCHAR IS NULL OR system = $system::VARCHAR)
ORDER BY log_id, system, phase_class
