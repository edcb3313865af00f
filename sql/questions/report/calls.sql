-- ---
-- about = "How often a log called what in each layer, what was called most first."
-- parts = []
-- reads = ["main.log_calls"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT log_id, layer, call_kind, call_count
FROM main.log_calls
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
    AND call_count > 0
ORDER BY call_count DESC, layer, call_kind
