-- ---
-- about = "What the I/O time of logs went into: reads, writes, metadata calls, and waiting in MPI-IO."
-- parts = []
-- reads = ["core.file_time"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT log_id, time_kind, sum(kind_seconds ORDER BY kind_seconds) AS kind_core_seconds
FROM core.file_time
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
GROUP BY ALL
ORDER BY kind_core_seconds DESC, time_kind
