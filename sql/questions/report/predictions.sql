-- ---
-- about = "How long a log's I/O would take on the eight systems where it would take least, by IOR."
-- parts = []
-- reads = ["main.predictions"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT
    log_id, system, predicted_seconds, least_predicted_seconds, most_predicted_seconds, measured_seconds, prediction_error_ratio,
    predicted_bytes_ratio, unknown_class_count, COUNT(*) OVER (PARTITION BY log_id) AS log_system_count
FROM main.predictions
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
QUALIFY row_number() OVER (PARTITION BY log_id ORDER BY predicted_seconds NULLS LAST, system) <= 8
ORDER BY log_id, predicted_seconds NULLS LAST, system
