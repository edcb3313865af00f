-- ---
-- about = "All ranks, OSTs and files that findings count, by the metric that names one of them."
-- parts = []
-- reads = ["core.rank_time", "core.ost_pace", "core.striped_file", "core.file_name"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
WITH counted AS (
    SELECT cluster, night, log_id, 'straggler_rank' AS metric, rank AS number, NULL::BIGINT AS file_id
    FROM core.rank_time
    WHERE is_slow_rank
    UNION
    SELECT cluster, night, log_id, 'slow_ost_id', ost_id, NULL
    FROM core.ost_pace
    WHERE is_slow
    UNION
    SELECT
        cluster, night, log_id,
        unnest([CASE WHEN is_on_one_ost THEN 'single_ost_path' END, CASE WHEN is_on_few_osts THEN 'striped_shared_path' END]),
        NULL, file_id
    FROM core.striped_file
)
SELECT
    log_id, metric, list(number ORDER BY number) FILTER (number IS NOT NULL) AS numbers,
    list(DISTINCT path ORDER BY path) FILTER (path IS NOT NULL) AS paths
FROM counted
LEFT JOIN core.file_name USING (cluster, night, log_id, file_id)
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id) AND metric IS NOT NULL
GROUP BY log_id, metric
ORDER BY log_id, metric
