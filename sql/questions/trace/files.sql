-- ---
-- about = "Traced files, those with most bytes moved first."
-- parts = []
-- reads = ["core.file_access", "core.file_name"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT log_id, file_id, any_value(path) AS path, any_value(mount) AS mount
FROM core.file_access
LEFT JOIN core.file_name USING (cluster, night, log_id, file_id)
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
GROUP BY log_id, file_id
ORDER BY sum(moved_bytes) DESC, file_id
