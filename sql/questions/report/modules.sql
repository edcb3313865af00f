-- ---
-- about = "Modules of logs."
-- parts = []
-- reads = ["core.module"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT log_id, module, module_version, region_bytes, state, reason, is_partial
FROM core.module
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
ORDER BY module
