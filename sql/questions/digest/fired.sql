-- ---
-- about = "What fired in runs that were not slow for others' or unknown reasons, and is not over."
-- parts = ["run"]
-- reads = ["main.findings"]
-- # What is over: clusters, lineages and codes that go together.
-- parameters = ["earliest_night", "last_night", "over_clusters", "over_lineage_ids", "over_codes"]
-- ---
WITH over AS (
    SELECT
        unnest($over_clusters::VARCHAR[]) AS cluster, unnest($over_lineage_ids::VARCHAR[]) AS lineage_id,
        unnest($over_codes::VARCHAR[]) AS code
)
SELECT
    recipient, cluster, night, log_id, job_id, "user", application, code, level,
    cost_core_seconds + coalesce(idle_core_seconds, 0) AS cost_core_seconds, idle_core_seconds, charged_core_seconds, cause_code,
    is_facility_cause, run_core_seconds, run_seconds, nprocs
-- Runs that others made slow, or unexplained slow runs, say little about a program; and findings that are over need no mail.
FROM (SELECT * FROM run WHERE NOT is_excused AND NOT is_unexplained)
JOIN (
    SELECT cluster, night, log_id, code, level, cost_core_seconds, idle_core_seconds, charged_core_seconds, cause_code, is_facility_cause
    FROM main.findings
    WHERE night BETWEEN $earliest_night::DATE AND $last_night::DATE
) USING (cluster, night, log_id)
ANTI JOIN over USING (cluster, lineage_id, code)
