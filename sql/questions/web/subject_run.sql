-- ---
-- about = "Runs of a user, of an application or program, on a host, or on an OST, with the cost of their findings."
-- parts = []
-- reads = ["main.logs", "main.findings", "core.rank_io", "core.log_node", "core.ost_io"]
-- parameters = ["kind", "name", "since", "until", "cluster"]
-- ---
WITH placed AS (
    SELECT cluster, night, log_id
    FROM core.rank_io
    WHERE $kind = 'host' AND host = $name AND night BETWEEN $since AND $until
    UNION
    -- Where the scheduler put the job, whether or not its ranks' hosts are known.
    SELECT cluster, night, log_id
    FROM core.log_node
    WHERE $kind = 'host' AND host = $name AND night BETWEEN $since AND $until
    UNION
    -- A log knows an OST by its number only.
    SELECT cluster, night, log_id
    FROM core.ost_io
    WHERE
        $kind = 'target' AND night BETWEEN $since AND $until AND layer = 'posix' AND moved_bytes > 0
        AND format('OST{:04x}', ost_id) = regexp_extract($name, 'OST[0-9a-f]{4,}$')
),
run AS (
    SELECT *
    FROM main.logs
    WHERE
        is_owner_confirmed IS DISTINCT FROM false AND night BETWEEN $since AND $until AND ($cluster IS NULL OR cluster = $cluster)
        -- Who has no login is known by number.
        AND (
            ($kind = 'user' AND coalesce(nullif("user", ''), uid::VARCHAR) = $name)
            OR ($kind = 'application' AND $name IN (application, app))
        )
    UNION ALL
    SELECT logs.*
    FROM main.logs AS logs
    SEMI JOIN placed USING (cluster, night, log_id)
    WHERE
        is_owner_confirmed IS DISTINCT FROM false AND $kind IN ('host', 'target') AND logs.night BETWEEN $since AND $until
        AND ($cluster IS NULL OR logs.cluster = $cluster)
),
found AS (
    SELECT
        cluster, night, log_id, count(*) AS finding_count, sum(charged_core_seconds ORDER BY code) AS cost_core_seconds,
        sum(charged_core_seconds * is_facility_cause::INTEGER ORDER BY code) AS facility_cost_core_seconds
    FROM main.findings
    WHERE night BETWEEN $since AND $until
    GROUP BY ALL
)
SELECT
    run.cluster, run.night, run.log_id, run.job_id, run."user", run.uid, run.app, run.application, run.nprocs, run.start_at,
    run.run_seconds, run.run_core_seconds, run.io_core_seconds, run.io_ratio, run.read_bytes, run.write_bytes,
    coalesce(finding_count, 0) AS finding_count, cost_core_seconds, facility_cost_core_seconds
FROM run
LEFT JOIN found USING (cluster, night, log_id)
