-- ---
-- about = "What forwarders would leave of logs' requests, layer by layer, by mount, access and direction."
-- parts = []
-- reads = ["core.coalescing"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT * EXCLUDE (cluster, night)
FROM core.coalescing
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
ORDER BY log_id, layer DESC, mount, access, op, forwarder_count, window_seconds NULLS FIRST
