-- ---
-- about = "Requests of traces whose times can be."
-- parts = ["traced"]
-- reads = []
-- parameters = []
-- ---
SELECT
    log_id, layer, op, rank, host, file_id, ost AS ost_id, offset_bytes, greatest(length_bytes, 0) AS length_bytes,
    start_seconds, end_seconds, 0 AS tolerance
FROM traced
WHERE is_sound
ORDER BY log_id, layer, rank, start_seconds
