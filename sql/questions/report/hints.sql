-- ---
-- about = "The first twelve metadata entries of a log."
-- parts = []
-- reads = ["core.metadata"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT log_id, key, entry, count(*) OVER (PARTITION BY log_id) AS log_hint_count
FROM core.metadata
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
QUALIFY row_number() OVER (PARTITION BY log_id ORDER BY key, entry) <= 12
ORDER BY key, entry
