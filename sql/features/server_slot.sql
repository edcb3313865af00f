-- ---
-- about = "What a job had a target do in ten minutes, and how long that usually takes."
-- grain = ["cluster", "night", "target", "owner", "begin_at"]
-- reads = ["core.server_interval", "core.log", "core.job", "core.owner_doubt"]
-- ---
-- As long as job_stats are usually apart; what an interval holds is spread evenly over its slots.
WITH person AS (
    SELECT cluster, job_id, MAX("user") AS "user", MAX(app) AS app
    FROM (
        SELECT cluster, job_id, "user", NULL AS app FROM core.job WHERE "user" <> ''
        UNION ALL
        -- A log of another user that names the job does not say who ran it.
        SELECT cluster, job_id, "user", app FROM core.log ANTI JOIN core.owner_doubt USING (cluster, night, log_id) WHERE "user" <> ''
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
    SELECT
        interval_of_job.*, COALESCE("user", '') AS "user", COALESCE(app, '') AS app, COALESCE(NULLIF("user", ''), owner) AS who,
        service_seconds / rpc_count AS seconds_per_rpc
    FROM interval_of_job
    LEFT JOIN person USING (cluster, job_id)
),
-- What is usual is never learned from the runs that are compared with it: a user whose runs all met with the same trouble would
-- seem to be served as usual. Each user counts once, however often they run something.
usual AS (
    SELECT
        cluster, who, target_kind, operation, size_class, MEDIAN(MEDIAN(seconds_per_rpc)) OVER (
            PARTITION BY cluster, target_kind, operation, size_class
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW
        ) AS others_seconds_per_rpc
    FROM known
    GROUP BY cluster, who, target_kind, operation, size_class
),
-- What is always slow for an application is not the system state, so its own nights before are a better reference than other
-- users' runs. A few runs are too few.
usual_of_app AS (
    SELECT
        cluster, judged.night, "user", app, target_kind, operation, size_class, MEDIAN(seconds_per_rpc) AS app_seconds_per_rpc
    FROM (SELECT DISTINCT cluster, night FROM known) AS judged
    JOIN known USING (cluster)
    WHERE known.night < judged.night AND app <> ''
    GROUP BY ALL
    HAVING COUNT(DISTINCT job_id) >= 5
),
slotted AS (
    SELECT *, unnest(range(
            TRY_CAST(floor(begin_second / 600) AS BIGINT),
            TRY_CAST(GREATEST(ceil(end_second / 600), floor(begin_second / 600) + 1) AS BIGINT)
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
        rpcs * COALESCE(app_seconds_per_rpc, others_seconds_per_rpc) AS usual_seconds
    FROM slotted
    LEFT JOIN usual USING (cluster, who, target_kind, operation, size_class)
    LEFT JOIN usual_of_app USING (cluster, night, "user", app, target_kind, operation, size_class)
)
SELECT
    to_timestamp(slot * 600) AS begin_at, target, target_kind, owner, job_id, "user",
    TRY_CAST(round(SUM(rpcs)) AS BIGINT) AS rpc_count, TRY_CAST(round(SUM(moved_bytes)) AS BIGINT) AS moved_bytes,
    SUM(seconds) AS service_seconds,
    -- Requests of a kind and size that no other user sends are taken to be as slow as the rest.
    SUM(usual_seconds) * (SUM(seconds) / NULLIF(SUM(seconds) FILTER (usual_seconds IS NOT NULL), 0)) AS usual_service_seconds,
    night, cluster
FROM parted
GROUP BY ALL
