-- ---
-- about = "Totals by layer, the slowest first."
-- parts = []
-- reads = ["main.log_layers"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT * EXCLUDE (cluster, night)
FROM main.log_layers
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
ORDER BY slowest_io_seconds DESC, layer
