-- ---
-- about = "Nodes that the job of a log had beyond one for each process, by the accounting."
-- grain = ["log_id"]
-- reads = ["core.log", "core.job"]
-- [words]
-- site_idle_node_count = "Nodes of the job without a process of the log; NULL where the job is not known."
-- ---
WITH known AS (
    SELECT log.cluster, log.night, log.log_id, max(coalesce(job.node_count, len(job.hosts))) AS node_count
    FROM core.log AS log
    JOIN core.job AS job ON job.cluster = log.cluster AND job.job_id = log.job_id
    WHERE job.night BETWEEN log.night - 7 AND log.night + 7
    GROUP BY ALL
)
SELECT
    cluster, night, log_id, NOT is_partial AS is_complete, nprocs, node_count,
    CASE WHEN node_count >= 0 THEN greatest(node_count - nprocs, 0) END AS site_idle_node_count
FROM core.log
LEFT JOIN known USING (cluster, night, log_id)
