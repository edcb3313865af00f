-- ---
-- about = "What OSTs moved in POSIX."
-- parts = []
-- reads = ["main.ost_io"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT log_id, ost_id, op, request_count, moved_bytes, reason
FROM main.ost_io
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id) AND layer = 'posix'
ORDER BY ost_id NULLS LAST, op, evidence, reason
