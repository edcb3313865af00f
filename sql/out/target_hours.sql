-- ---
-- about = "What kept a storage target busy in an hour, how slow it was, and who had most of it."
-- grain = ["cluster", "night", "target", "begin_at"]
-- reads = ["core.server_slot"]
-- ---
WITH per_user AS (
    SELECT
        cluster, night, target, target_kind, date_trunc('hour', begin_at) AS begin_at,
        CASE WHEN "user" = '' THEN owner ELSE "user" END AS "user",
        COUNT(DISTINCT owner) AS job_count,
        COUNT(DISTINCT owner) FILTER (service_seconds >= 2 * usual_service_seconds) AS slowed_job_count,
        SUM(rpc_count) AS rpcs, SUM(moved_bytes) AS bytes,
        SUM(service_seconds) AS seconds, SUM(usual_service_seconds) AS usual_seconds,
        SUM(service_seconds) FILTER (usual_service_seconds IS NOT NULL) AS held_seconds
    FROM core.server_slot
    GROUP BY ALL
),
per_target AS (
    SELECT
        cluster, night, target, target_kind, begin_at,
        arg_max("user", seconds ORDER BY "user") AS "user", MAX(seconds) / NULLIF(SUM(seconds), 0) AS user_ratio,
        SUM(seconds) AS seconds,
        -- The usual time of some requests is not known: they are taken to be as slow as the rest.
        SUM(usual_seconds) * (SUM(seconds) / NULLIF(SUM(held_seconds), 0)) AS usual_seconds,
        SUM(rpcs) AS rpcs, SUM(bytes) AS bytes, SUM(job_count) AS job_count, SUM(slowed_job_count) AS slowed_job_count
    FROM per_user
    GROUP BY ALL
)
SELECT
    target, target_kind, begin_at, "user", user_ratio, seconds / NULLIF(usual_seconds, 0) AS server_slowdown_ratio,
    seconds AS service_seconds, usual_seconds AS usual_service_seconds, seconds - usual_seconds AS lost_service_seconds,
    TRY_CAST(rpcs AS BIGINT) AS rpc_count, TRY_CAST(bytes AS BIGINT) AS moved_bytes,
    TRY_CAST(job_count AS BIGINT) AS job_count, TRY_CAST(slowed_job_count AS BIGINT) AS slowed_job_count,
    night, cluster
FROM per_target
