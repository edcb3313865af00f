-- ---
-- about = "Hosts of traced ranks."
-- parts = []
-- reads = ["core.dxt_file"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT DISTINCT log_id, host
FROM core.dxt_file
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
    AND host IS NOT NULL
ORDER BY host
