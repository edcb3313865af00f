-- ---
-- about = "A node of the job that a log belongs to, as the scheduler accounts for it, in the order of the job's node list."
-- grain = ["log_id", "node_number"]
-- reads = ["core.log", "core.job"]
-- ---
-- Of a job that was started again, the run that the log began with.
WITH run AS (
    SELECT log.cluster, log.night, log.log_id, job.hosts
    FROM core.log AS log
    JOIN core.job AS job USING (cluster, job_id)
    WHERE job_id <> '' AND len(job.hosts) > 0
    QUALIFY row_number() OVER (
        PARTITION BY log.cluster, log.night, log.log_id
        ORDER BY ABS(epoch(job.start_at) - epoch(log.start_at)) NULLS LAST, job.end_at DESC NULLS LAST, job.night DESC
    ) = 1
)
SELECT log_id, unnest(range(0, len(hosts))) AS node_number, unnest(hosts) AS host, night, cluster
FROM run
