-- ---
-- about = "Of each user the twenty newest logs with findings among the newest nights with logs of each machine, the costliest of a night first."
-- parts = []
-- reads = ["core.app_night", "core.log", "core.owner_doubt", "main.findings"]
-- parameters = ["night_count"]
-- ---
WITH newest AS (
    SELECT cluster, night
    FROM core.app_night
    GROUP BY cluster, night
    QUALIFY row_number() OVER (PARTITION BY cluster ORDER BY night DESC) <= $night_count
),
found AS (
    SELECT
        coalesce("user", uid::VARCHAR) AS "user", night, cluster, log_id, job_id, application, count(*) AS finding_count,
        sum(charged_core_seconds ORDER BY code) AS cost_core_seconds,
        sum(charged_core_seconds * is_facility_cause::INTEGER ORDER BY code) AS facility_cost_core_seconds
    FROM main.findings
    SEMI JOIN newest USING (cluster, night)
    -- A list of a user's runs names none that another may have written.
    ANTI JOIN core.owner_doubt USING (cluster, night, log_id)
    GROUP BY "user", uid, night, cluster, log_id, job_id, application
)
SELECT found.*, run_seconds * nprocs AS run_core_seconds
FROM found
JOIN (SELECT cluster, night, log_id, run_seconds, nprocs FROM core.log) AS log USING (cluster, night, log_id)
QUALIFY
    row_number() OVER (
        PARTITION BY "user" ORDER BY night DESC, cost_core_seconds - coalesce(facility_cost_core_seconds, 0) DESC NULLS LAST, log_id
    ) <= 20
ORDER BY
    "user" NULLS LAST, night DESC, cost_core_seconds - coalesce(facility_cost_core_seconds, 0) DESC NULLS LAST, log_id
