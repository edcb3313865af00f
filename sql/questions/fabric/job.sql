-- ---
-- about = "What a job's I/O moved over each directed link in a night."
-- parts = []
-- reads = ["core.job_link"]
-- parameters = ["cluster", "night", "job"]
-- ---
SELECT
    guid || '/' || port AS sender, coalesce(sum(moved_bytes) FILTER (op = 'read'), 0)::DOUBLE AS read_bytes,
    coalesce(sum(moved_bytes) FILTER (op = 'write'), 0)::DOUBLE AS write_bytes, bool_or(is_host_link) AS is_host_link,
    bool_or(is_server_link) AS is_server_link
FROM core.job_link
WHERE cluster = $cluster AND night = $night AND (job_id = $job OR log_id = $job)
GROUP BY ALL
ORDER BY sender
