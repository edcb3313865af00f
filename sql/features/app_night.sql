-- ---
-- about = "What a user's program did in a night under an account, and what its findings cost."
-- grain = ["cluster", "night", "user", "uid", "app", "account"]
-- reads = ["main.logs", "main.findings", "core.job"]
-- ---
WITH per_log AS (
    SELECT
        cluster, night, log_id, COUNT(*) AS findings, SUM(charged_core_seconds ORDER BY code) AS cost,
        SUM(charged_core_seconds * is_facility_cause::INTEGER ORDER BY code) AS facility_cost
    FROM main.findings
    GROUP BY ALL
),
account_of_job AS (
    SELECT cluster, job_id, arg_max(account, night ORDER BY account) AS account
    FROM core.job
    WHERE account <> ''
    GROUP BY ALL
),
counted AS (
    SELECT logs.*, account, findings, cost, facility_cost
    -- A log that its owner did not write says nothing about the owner's programs.
    FROM (SELECT * FROM main.logs WHERE is_owner_confirmed IS DISTINCT FROM false) AS logs
    LEFT JOIN per_log USING (cluster, night, log_id)
    LEFT JOIN account_of_job USING (cluster, job_id)
)
-- Added up in order, floats give the same sum each time that a night is swept.
SELECT
    "user", uid, app, account,
    COUNT(*) AS log_count,
    COUNT(findings) AS finding_log_count,
    TRY_CAST(COALESCE(SUM(findings), 0) AS BIGINT) AS finding_count,
    SUM(cost ORDER BY log_id) AS cost_core_seconds,
    SUM(facility_cost ORDER BY log_id) AS facility_cost_core_seconds,
    SUM(io_core_seconds ORDER BY log_id) AS io_core_seconds,
    SUM(run_core_seconds ORDER BY log_id) AS run_core_seconds,
    SUM(run_core_seconds ORDER BY log_id) FILTER (WHERE io_core_seconds IS NOT NULL) AS timed_core_seconds,
    TRY_CAST(SUM(read_bytes) AS BIGINT) AS read_bytes,
    TRY_CAST(SUM(write_bytes) AS BIGINT) AS write_bytes,
    COUNT(doubt) AS doubtful_log_count,
    night, cluster
FROM counted
GROUP BY "user", uid, app, account, night, cluster
