-- ---
-- about = "What a job had a target do in ten minutes, and how long that usually takes."
-- grain = ["cluster", "night", "target", "owner", "begin_at"]
-- reads = ["core.server_interval", "core.log", "core.job"]
-- ---
-- As long as job_stats are usually apart; what an interval holds is spread evenly over its slots.
WITH person AS (
    SELECT cluster, job_id, MAX("user") AS "user", MAX(app) AS app
    FROM (
        SELECT cluster, job_id, "user", NULL AS app FROM core.job WHERE "user" <> ''
        UNION ALL
        SELECT cluster, job_id, "user", app FROM core.log WHERE "user" <> ''
    )
    GROUP BY ALL
),
interval_of_job AS (
    SELECT
        *, epoch(begin_at) AS begin_second, begin_second + interval_seconds AS end_second,
        CASE WHEN moved_bytes > 0 THEN floor(log2(moved_bytes / rpc_count)) ELSE -1 END AS size_class
    FROM core.server_interval
    WHERE scope = 'job' AND rpc_count > 0 AND interval_seconds BETWEEN 0 AND 86400
),
known AS (
    SELECT interval_of_job.*, COALESCE("user", '') AS "user", COALESCE(app, '') AS app
    FROM interval_of_job
    LEFT JOIN person USING (cluster, job_id)
),
usual AS (
    SELECT cluster, target_kind, operation, size_class, MEDIAN(service_seconds / rpc_count) AS seconds_per_rpc
    FROM known
    GROUP BY ALL
),
-- Few runs have no usual time of their own.
usual_of_app AS (
    SELECT
        cluster, "user", app, target_kind, operation, size_class, MEDIAN(service_seconds / rpc_count) AS app_seconds_per_rpc
    FROM known
    WHERE app <> ''
    GROUP BY ALL
    HAVING COUNT(DISTINCT job_id) >= 5
),
slotted AS (
    SELECT *, unnest(range(
            floor(begin_second / 600)::BIGINT, GREATEST(ceil(end_second / 600), floor(begin_second / 600) + 1)::BIGINT
        )) AS slot
    FROM known
),
parted AS (
    SELECT
        cluster, night, target, target_kind, owner, job_id, "user", slot,
        CASE
            WHEN interval_seconds = 0 THEN 1
            ELSE (LEAST(end_second, (slot + 1) * 600) - GREATEST(begin_second, slot * 600)) / interval_seconds
        END AS part,
        rpc_count * part AS rpcs, moved_bytes * part AS moved_bytes, service_seconds * part AS seconds,
        rpcs * seconds_per_rpc AS usual_seconds, rpcs * COALESCE(app_seconds_per_rpc, seconds_per_rpc) AS app_usual_seconds
    FROM slotted
    LEFT JOIN usual USING (cluster, target_kind, operation, size_class)
    LEFT JOIN usual_of_app USING (cluster, "user", app, target_kind, operation, size_class)
)
SELECT
    to_timestamp(slot * 600) AS begin_at, target, target_kind, owner, job_id, "user",
    TRY_CAST(round(SUM(rpcs)) AS BIGINT) AS rpc_count, TRY_CAST(round(SUM(moved_bytes)) AS BIGINT) AS moved_bytes,
    SUM(seconds) AS service_seconds, SUM(usual_seconds) AS usual_service_seconds,
    SUM(app_usual_seconds) AS app_usual_service_seconds, night, cluster
FROM parted
GROUP BY ALL
