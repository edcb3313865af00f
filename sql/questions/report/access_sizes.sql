-- ---
-- about = "The four commonest lengths of requests in each layer of a log, the commonest first."
-- parts = []
-- reads = ["main.log_access_sizes"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT log_id, layer, length_bytes, request_count
FROM main.log_access_sizes
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id) AND length_bytes IS NOT NULL AND request_count IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY log_id, layer ORDER BY request_count DESC, length_bytes) <= 4
ORDER BY request_count DESC, length_bytes, layer
