-- ---
-- about = "In how many runs of an application each code fired, on which nights, and what that cost its recipient."
-- parts = ["fired"]
-- reads = []
-- parameters = []
-- ---
SELECT
    recipient, cluster, "user", application, code, min(level) AS level,
    count(DISTINCT log_id) AS run_count, count(DISTINCT coalesce(job_id, log_id)) AS job_count, count(DISTINCT night) AS night_count,
    min(night) AS first_night, max(night) AS last_night,
    sum(cost_core_seconds ORDER BY log_id) AS cost_core_seconds,
    sum(idle_core_seconds ORDER BY log_id) AS idle_core_seconds,
    sum(idle_core_seconds ORDER BY log_id) FILTER (is_facility_cause IS NOT TRUE) AS own_idle_core_seconds,
    sum(charged_core_seconds ORDER BY log_id) AS charged_core_seconds,
    sum(charged_core_seconds * is_facility_cause::INTEGER ORDER BY log_id) AS facility_cost_core_seconds,
    -- What that was for a rank, on average; and of these runs, how long those were whose cost is known.
    sum(charged_core_seconds / nullif(nprocs, 0) ORDER BY log_id) AS charged_rank_seconds,
    sum(run_seconds ORDER BY log_id) FILTER (cost_core_seconds IS NOT NULL) AS run_seconds,
    count(run_seconds) FILTER (cost_core_seconds IS NOT NULL) AS timed_run_count,
    -- What has no cost may lead too, where it says who is to blame.
    sum(coalesce(cost_core_seconds, 0) ORDER BY log_id) FILTER (cause_code = code) AS led_core_seconds,
    -- A mail shows this run, whose report is to call the cause by the same code.
    arg_max(
        {log_id: log_id, night: night, job_id: job_id},
        {is_lead: coalesce(cause_code = code, false), cost: coalesce(cost_core_seconds, -1)} ORDER BY log_id
    ) AS costliest
FROM fired
GROUP BY ALL
ORDER BY ALL
