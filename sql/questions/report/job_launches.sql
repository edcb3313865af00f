-- ---
-- about = "Launches of jobs: each log is one, but all logs of single processes of one command that ran at the same time are one together."
-- parts = []
-- reads = ["main.logs", "main.findings"]
-- parameters = ["cluster", "first_night", "last_night", "job_ids"]
-- ---
WITH found AS (
    SELECT log_id, count(*) AS finding_count, sum(charged_core_seconds ORDER BY code) AS cost_core_seconds
    FROM main.findings
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night
    GROUP BY ALL
),
-- Who names another's job adds nothing to it, as in `jobs`.
named AS (
    SELECT *, count(*) FILTER (is_owner_confirmed IS NOT DISTINCT FROM false) OVER (PARTITION BY job_id) AS foreign_log_count
    FROM main.logs
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND list_contains($job_ids, job_id)
),
run AS (
    SELECT
        job_id, log_id, cluster, uid, "user", app, application, nprocs, start_at, end_at, run_seconds, run_core_seconds,
        io_core_seconds, read_bytes, write_bytes, coalesce(finding_count, 0) AS finding_count, cost_core_seconds,
        foreign_log_count,
        start_at <= max(end_at) OVER (
            PARTITION BY job_id, uid, app, application ORDER BY nprocs > 1, start_at, log_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS is_at_once
    FROM named
    LEFT JOIN found USING (log_id)
    WHERE is_owner_confirmed IS DISTINCT FROM false
),
numbered AS (
    SELECT
        *, sum(CASE WHEN nprocs = 1 AND is_at_once THEN 0 ELSE 1 END) OVER (
            PARTITION BY job_id, uid, app, application ORDER BY nprocs > 1, start_at, log_id
        ) AS launch
    FROM run
)
SELECT
    job_id, any_value(cluster) AS cluster, uid, any_value("user") AS "user", app, application, count(*) AS log_count,
    -- Of each log the header says how many processes there were.
    sum(nprocs)::BIGINT AS process_count, min(start_at) AS start_at, max(end_at) AS end_at,
    -- A log alone ran as long as its own report says, which is a second more where only whole seconds are known.
    coalesce(CASE WHEN count(*) = 1 THEN any_value(run_seconds) END, epoch(max(end_at)) - epoch(min(start_at))) AS run_seconds,
    sum(run_core_seconds ORDER BY log_id) AS run_core_seconds, sum(io_core_seconds ORDER BY log_id) AS io_core_seconds,
    try_cast(sum(read_bytes) AS BIGINT) AS read_bytes, try_cast(sum(write_bytes) AS BIGINT) AS write_bytes,
    sum(finding_count)::BIGINT AS finding_count, sum(cost_core_seconds ORDER BY log_id) AS cost_core_seconds,
    arg_max(log_id, coalesce(cost_core_seconds, io_core_seconds / 1e9, 0) ORDER BY log_id) AS costliest_log_id,
    any_value(foreign_log_count) AS foreign_log_count
FROM numbered
GROUP BY job_id, uid, app, application, launch
ORDER BY start_at, costliest_log_id
