-- ---
-- about = "What accounting knows of jobs."
-- parts = []
-- reads = ["core.job"]
-- parameters = ["cluster", "first_history_night", "last_history_night", "job_ids"]
-- ---
SELECT job_id, job_name, account, partition, job_state, node_count, run_seconds
FROM core.job
WHERE cluster = $cluster AND night BETWEEN $first_history_night AND $last_history_night AND list_contains($job_ids, job_id)
-- Accounting has a row of a job for every query until the job has ended.
QUALIFY row_number() OVER (PARTITION BY job_id ORDER BY end_at IS NULL, end_at DESC, job_state) = 1
