-- ---
-- about = "The five jobs that moved most over each of some directed links in a night."
-- parts = []
-- reads = ["core.job_link"]
-- parameters = ["cluster", "night", "senders"]
-- ---
WITH moved AS (
    SELECT
        guid || '/' || port AS sender, coalesce(nullif(job_id, ''), log_id) AS job, sum(moved_bytes)::DOUBLE AS moved_bytes
    FROM core.job_link
    WHERE cluster = $cluster AND night = $night AND guid || '/' || port IN (SELECT unnest($senders::VARCHAR []))
    GROUP BY ALL
)
SELECT sender, job, moved_bytes
FROM moved
QUALIFY row_number() OVER (PARTITION BY sender ORDER BY moved_bytes DESC, job) <= 5
ORDER BY sender, moved_bytes DESC, job
