-- ---
-- about = "Traced requests whose times are possible (see the question traced), with the OSTs on which they begin."
-- parts = []
-- reads = ["main.segments"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids", "ended_seconds"]
-- ---
SELECT
    log_id, layer, op, rank, host, file_id, ost AS ost_id, offset_bytes, greatest(length_bytes, 0) AS length_bytes,
    start_seconds, end_seconds, 0 AS tolerance
FROM main.segments
JOIN (SELECT unnest($log_ids) AS log_id, unnest($ended_seconds) AS ended_seconds) AS ended USING (log_id)
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id) AND start_seconds >= 0 AND end_seconds >= start_seconds AND end_seconds <= ended_seconds
ORDER BY log_id, layer, rank, start_seconds
