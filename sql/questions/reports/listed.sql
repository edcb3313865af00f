-- ---
-- about = "Logs by user, the newest night first, with the number and cost of their findings."
-- parts = []
-- reads = ["core.log", "main.findings"]
-- parameters = ["log_ids"]
-- ---
WITH found AS (
    SELECT
        cluster, night, log_id, count(*) AS finding_count, sum(charged_core_seconds ORDER BY code) AS cost_core_seconds,
        sum(charged_core_seconds * is_facility_cause::INTEGER ORDER BY code) AS facility_cost_core_seconds
    FROM main.findings
    WHERE list_contains($log_ids, log_id)
    GROUP BY cluster, night, log_id
)
SELECT
    coalesce("user", uid::VARCHAR) AS "user", night, cluster, log_id, job_id, application,
    coalesce(finding_count, 0) AS finding_count, cost_core_seconds, facility_cost_core_seconds,
    run_seconds * nprocs AS run_core_seconds
FROM core.log
LEFT JOIN found USING (cluster, night, log_id)
WHERE list_contains($log_ids, log_id)
ORDER BY "user" NULLS LAST, night DESC, cost_core_seconds - coalesce(facility_cost_core_seconds, 0) DESC NULLS LAST, log_id
