-- ---
-- about = "How much longer than usual servers took for a log's job, every ten minutes of the run, by kind of target."
-- parts = []
-- reads = ["core.log", "core.server_slot"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
WITH wanted AS (
    SELECT cluster, log_id, job_id, epoch(start_at) AS start_second, epoch(end_at) AS end_second
    FROM core.log
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
        AND job_id <> ''
)
SELECT
    log_id, target_kind, list(epoch(begin_at) - start_second ORDER BY begin_at) AS starts, list(slowdown_ratio ORDER BY begin_at) AS slowdown_ratios
FROM (
    SELECT
        log_id, target_kind, begin_at, start_second, sum(service_seconds) / nullif(sum(usual_service_seconds), 0) AS slowdown_ratio
    FROM core.server_slot
    JOIN wanted USING (cluster, job_id)
    WHERE cluster = $cluster AND night BETWEEN $first_night::DATE - 1 AND $last_night::DATE + 1
        AND epoch(begin_at) BETWEEN start_second - 600 AND end_second AND usual_service_seconds IS NOT NULL
    GROUP BY ALL
)
WHERE slowdown_ratio IS NOT NULL
GROUP BY log_id, target_kind
ORDER BY target_kind DESC
