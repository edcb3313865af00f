-- ---
-- about = "Causes of jobs: what is wrong in their logs, merged by the code of the cause, with the words of the costliest log."
-- parts = []
-- reads = ["main.findings", "core.owner_doubt"]
-- parameters = ["cluster", "first_night", "last_night", "job_ids"]
-- ---
WITH found AS (
    SELECT *, coalesce(cause_code, code) AS lead_code
    FROM main.findings
    ANTI JOIN core.owner_doubt USING (cluster, night, log_id)
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND list_contains($job_ids, job_id)
),
of_log AS (
    SELECT
        job_id, log_id, lead_code, sum(charged_core_seconds ORDER BY code) AS log_core_seconds,
        -- Findings of one cause are about the same time.
        max(idle_core_seconds) AS log_idle_seconds,
        any_value(finding) FILTER (code = lead_code) AS finding, any_value(advice) FILTER (code = lead_code) AS advice
    FROM found
    GROUP BY ALL
),
of_job AS (
    SELECT
        job_id, lead_code AS code, count(*) AS log_count, sum(log_core_seconds ORDER BY log_id) AS charged_core_seconds,
        sum(log_idle_seconds ORDER BY log_id) AS idle_core_seconds,
        arg_max(
            {log_id: log_id, finding: finding, advice: advice}, coalesce(log_core_seconds, 0) + coalesce(log_idle_seconds, 0)
            ORDER BY log_id
        ) AS costliest
    FROM of_log
    GROUP BY ALL
)
FROM of_job
ORDER BY coalesce(charged_core_seconds, 0) + coalesce(idle_core_seconds, 0) DESC, code
