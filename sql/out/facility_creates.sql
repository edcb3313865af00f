-- ---
-- about = "The files that all logs of a night together created on a mount in each second, and the jobs that did so."
-- grain = ["cluster", "night", "mount", "create_at"]
-- reads = ["main.create_seconds", "core.owner_doubt"]
-- ---
WITH of_job AS (
    SELECT cluster, night, mount, create_at, COALESCE(job_id, '') AS job_id, SUM(create_count) AS create_count, COUNT(*) AS log_count
    FROM main.create_seconds
    -- An anti join would open the doubts of all nights.
    LEFT JOIN core.owner_doubt AS owner_doubt USING (cluster, night, log_id)
    WHERE owner_doubt.log_id IS NULL
    GROUP BY ALL
)
SELECT
    mount, create_at, SUM(create_count)::BIGINT AS create_count, SUM(log_count)::BIGINT AS log_count,
    COUNT(*) FILTER (job_id <> '') AS job_count, list(job_id ORDER BY create_count DESC, job_id) FILTER (job_id <> '') AS job_ids,
    night, cluster
FROM of_job
GROUP BY mount, create_at, night, cluster
