-- ---
-- about = "What is known of a job."
-- parts = []
-- reads = ["main.jobs"]
-- parameters = ["job_id", "cluster"]
-- ---
SELECT *
FROM main.jobs
WHERE job_id = $job_id AND cluster = $cluster
ORDER BY start_at NULLS LAST
