-- ---
-- about = "What traced requests of each size class moved, and how long they took; classes end as those of Darshan's counters do."
-- parts = []
-- reads = ["core.segment"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT
    log_id, layer, op,
    CASE
        WHEN length_bytes <= 100 THEN '0_100'
        WHEN length_bytes <= 1024 THEN '100_1k'
        WHEN length_bytes <= 10240 THEN '1k_10k'
        WHEN length_bytes <= 102400 THEN '10k_100k'
        WHEN length_bytes <= 1048576 THEN '100k_1m'
        WHEN length_bytes <= 4194304 THEN '1m_4m'
        WHEN length_bytes <= 10485760 THEN '4m_10m'
        WHEN length_bytes <= 104857600 THEN '10m_100m'
        WHEN length_bytes <= 1073741824 THEN '100m_1g'
        ELSE '1g_plus'
    END AS size_class,
    sum(length_bytes::DOUBLE) AS moved_bytes, sum(end_seconds - start_seconds ORDER BY end_seconds - start_seconds) AS request_seconds
FROM core.segment
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id) AND length_bytes >= 0 AND end_seconds >= start_seconds
GROUP BY ALL
ORDER BY log_id, layer, op, size_class
