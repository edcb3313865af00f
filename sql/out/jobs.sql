-- ---
-- about = "Runs of jobs in the scheduler's accounting, with sums of their logs; one without an end is listed until it has one."
-- grain = ["cluster", "job_id", "shown_job_id", "start_at"]
-- reads = ["core.job", "main.logs", "main.findings"]
-- ---
-- A job that was requeued has run more than once: each start is a run of its own.
WITH latest AS (
    -- Slurm gives each task of an array an id of its own, and the id that it shows changes; others give all tasks one id.
    SELECT *, CASE WHEN scheduler <> 'slurm' THEN COALESCE(shown_job_id, job_id) ELSE job_id END AS task
    FROM core.job
    -- Files of accounting overlap, so a run can come twice, also as a running job before it ended.
    QUALIFY
        row_number() OVER (
            PARTITION BY cluster, job_id, task, start_at ORDER BY end_at IS NULL, end_at DESC, submit_at DESC, night DESC, job_state
        ) = 1
),
known AS (
    SELECT *, MIN(task) OVER job <> MAX(task) OVER job AS is_task
    FROM latest
    WINDOW job AS (PARTITION BY cluster, job_id)
),
run AS (
    SELECT *, row_number() OVER job AS number, LEAD(start_at) OVER job AS next_start_at
    FROM known
    -- If a job was started later, its waiting entry has started since, and its running entry has ended.
    WHERE (
        end_at IS NOT NULL OR NOT EXISTS (
            FROM latest AS later
            WHERE later.cluster = known.cluster AND later.job_id = known.job_id AND later.task = known.task
                AND CASE
                    WHEN known.start_at IS NULL THEN later.start_at >= COALESCE(known.submit_at, later.start_at)
                    ELSE later.start_at > known.start_at
                END
        )
    )
    -- PBS has a record of a whole array too, which would count its tasks again.
    AND NOT (is_task AND contains(task, '[]'))
    WINDOW job AS (PARTITION BY cluster, job_id, task ORDER BY start_at NULLS LAST)
),
per_log AS (
    SELECT
        run.cluster, run.job_id, task, number, logs.read_bytes, logs.write_bytes, logs.io_core_seconds,
        COUNT(finding.code) AS finding_count, list_sum(list_sort(list(finding.charged_core_seconds))) AS cost_core_seconds,
        list_sum(list_sort(list(finding.charged_core_seconds * finding.is_facility_cause::INTEGER))) AS facility_cost_core_seconds,
        -- A log has the id of its array; only its time shows which task it is of.
        COUNT(DISTINCT task) OVER (PARTITION BY run.cluster, run.job_id, logs.night, logs.log_id) > 1 AS is_ambiguous
    FROM run
    JOIN main.logs AS logs
        -- Clocks of nodes and scheduler differ; between two runs of a job lies more than a minute. In seconds, since what is at
        -- the end of times can be moved no further.
        ON logs.cluster = run.cluster AND logs.job_id = run.job_id
        AND (number = 1 AND NOT is_task OR epoch(logs.start_at) >= epoch(run.start_at) - 60)
        AND (NOT is_task OR run.end_at IS NULL OR epoch(logs.start_at) <= epoch(run.end_at) + 60)
        AND (next_start_at IS NULL OR COALESCE(epoch(logs.start_at) < epoch(next_start_at) - 60, number = 1))
        -- A log of another user that names the job adds nothing to it.
        AND logs.is_owner_confirmed IS DISTINCT FROM false
    -- Row by row: findings of all logs, added up beforehand, would be added up whichever job is asked for.
    LEFT JOIN main.findings AS finding
        ON finding.cluster = logs.cluster AND finding.night = logs.night AND finding.log_id = logs.log_id
    GROUP BY
        run.cluster, run.job_id, task, number, logs.night, logs.log_id, logs.read_bytes, logs.write_bytes, logs.io_core_seconds
),
per_run AS (
    SELECT
        cluster, job_id, task, number, bool_or(is_ambiguous) AS is_ambiguous, COUNT(*) AS log_count,
        TRY_CAST(SUM(finding_count) AS BIGINT) AS finding_count,
        list_sum(list_sort(list(cost_core_seconds))) AS cost_core_seconds,
        list_sum(list_sort(list(facility_cost_core_seconds))) AS facility_cost_core_seconds,
        TRY_CAST(SUM(read_bytes) AS BIGINT) AS read_bytes, TRY_CAST(SUM(write_bytes) AS BIGINT) AS write_bytes,
        SUM(io_core_seconds ORDER BY io_core_seconds) AS io_core_seconds
    FROM per_log
    GROUP BY ALL
)
SELECT
    job_id, shown_job_id, scheduler, job_name, "user", uid, account, partition, qos, job_state, exit_code,
    submit_at, start_at, end_at, run_seconds, limit_seconds, node_count, core_count, gpu_count, node_list,
    node_count * run_seconds / 3600 AS node_hours,
    CASE WHEN is_ambiguous IS NULL THEN 0 WHEN NOT is_ambiguous THEN log_count END AS log_count,
    -- Nothing is known about a job without a log.
    CASE WHEN NOT is_ambiguous THEN read_bytes END AS read_bytes,
    CASE WHEN NOT is_ambiguous THEN write_bytes END AS write_bytes,
    CASE WHEN NOT is_ambiguous THEN io_core_seconds END AS io_core_seconds,
    CASE
        WHEN is_ambiguous THEN concat_ws('; ', NULLIF(doubt, ''), 'which logs are of this task of the array is not known')
        ELSE doubt
    END AS doubt,
    CASE WHEN NOT is_ambiguous THEN finding_count END AS finding_count,
    CASE WHEN NOT is_ambiguous THEN cost_core_seconds END AS cost_core_seconds,
    CASE WHEN NOT is_ambiguous THEN facility_cost_core_seconds END AS facility_cost_core_seconds,
    night, cluster
FROM run
LEFT JOIN per_run USING (cluster, job_id, task, number)
