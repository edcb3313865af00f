-- ---
-- about = "How the targets of one kind dealt with what a log, or a phase of it, asked of them, and who else kept them busy."
-- grain = ["log_id", "layer", "phase", "target_kind"]
-- reads = ["core.log", "core.phase", "core.server_slot", "core.log_load"]
-- ---
WITH busy AS (
    SELECT
        *, TRY_CAST(epoch(begin_at) AS BIGINT) // 600 AS slot,
        -- The user's other jobs are no neighbours.
        CASE WHEN "user" = '' THEN owner ELSE "user" END AS who
    FROM core.server_slot
    WHERE service_seconds IS NOT NULL
),
busy_user AS (
    SELECT cluster, target, target_kind, slot, who, arg_max(owner, service_seconds ORDER BY owner) AS owner, SUM(service_seconds) AS seconds
    FROM busy
    GROUP BY ALL
),
busy_target AS (
    SELECT
        cluster, target, target_kind, slot, SUM(seconds) AS target_seconds,
        SUM(SUM(seconds)) OVER (PARTITION BY cluster, target_kind, slot) AS slot_seconds
    FROM busy_user
    GROUP BY cluster, target, target_kind, slot
),
-- Targets that are idle in a slot have no row in it.
known_target AS (
    SELECT cluster, target_kind, COUNT(DISTINCT target) AS known_count
    FROM busy_target
    GROUP BY ALL
),
quantiles AS (
    SELECT cluster, target_kind, quantile_cont(target_seconds, [n / 100.0 FOR n IN range(1, 100)]) AS of_seconds
    FROM busy_target
    GROUP BY ALL
),
stretch AS (
    SELECT cluster, night, log_id, job_id, '' AS layer, -1 AS phase, epoch(start_at) AS begin_second, epoch(end_at) AS end_second
    FROM core.log
    UNION ALL
    SELECT
        cluster, night, log_id, job_id, phase.layer, phase.phase,
        epoch(log.start_at) + phase.start_seconds, epoch(log.start_at) + phase.end_seconds
    FROM core.phase AS phase
    JOIN core.log AS log USING (cluster, night, log_id)
),
own AS (
    SELECT
        cluster, stretch.night, log_id, layer, phase, target, target_kind, slot, who,
        SUM(rpc_count) AS rpcs, SUM(service_seconds) AS seconds, SUM(usual_service_seconds) AS usual_seconds,
        SUM(service_seconds) FILTER (usual_service_seconds IS NOT NULL) AS held_seconds
    FROM stretch
    JOIN busy USING (cluster, job_id)
    WHERE job_id <> '' AND slot BETWEEN floor(begin_second / 600) AND floor(end_second / 600)
    GROUP BY ALL
),
shared AS (
    SELECT
        cluster, night, log_id, layer, phase, target_kind, busy_user.who, busy_user.owner, own.who = busy_user.who AS is_own,
        own.seconds * busy_user.seconds / NULLIF(target_seconds, 0) AS weight
    FROM own
    JOIN busy_target USING (cluster, target, target_kind, slot)
    JOIN busy_user USING (cluster, target, target_kind, slot)
),
per_user AS (
    SELECT
        cluster, night, log_id, layer, phase, target_kind, who, is_own,
        SUM(weight) AS all_weight, arg_max(owner, weight ORDER BY owner) AS owner
    FROM shared
    GROUP BY ALL
),
shares AS (
    SELECT
        cluster, night, log_id, layer, phase, target_kind,
        COALESCE(SUM(all_weight) FILTER (is_own), 0) / NULLIF(SUM(all_weight), 0) AS own_ratio,
        COALESCE(MAX(all_weight) FILTER (NOT is_own), 0) / NULLIF(SUM(all_weight), 0) AS neighbour_ratio,
        arg_max(who, all_weight ORDER BY who) FILTER (NOT is_own) AS neighbour,
        arg_max(owner, all_weight ORDER BY who) FILTER (NOT is_own) AS neighbour_job_id
    FROM per_user
    GROUP BY ALL
),
measured AS (
    SELECT
        cluster, night, log_id, layer, phase, target_kind, COUNT(DISTINCT target) AS target_count, SUM(rpcs) AS rpcs,
        SUM(seconds) AS seconds,
        -- Of some requests it is not known what is usual: they are taken to be as slow as the rest.
        SUM(usual_seconds) * (SUM(seconds) / NULLIF(SUM(held_seconds), 0)) AS usual_seconds,
        SUM(seconds * target_seconds) / NULLIF(SUM(seconds), 0) AS load_seconds,
        -- Sums differ in their last digits from one working out to the next, and a log alone on one of four OSTs is on a threshold.
        round(SUM(seconds * target_seconds * known_count / NULLIF(slot_seconds, 0)) / NULLIF(SUM(seconds), 0), 9)
            AS load_over_mean_ratio
    FROM own
    JOIN busy_target USING (cluster, target, target_kind, slot)
    JOIN known_target USING (cluster, target_kind)
    GROUP BY ALL
)
SELECT
    log_id, layer, NULLIF(phase, -1) AS phase, target_kind, 'job_stats' AS evidence, target_count,
    TRY_CAST(rpcs AS BIGINT) AS rpc_count, seconds AS service_seconds, usual_seconds AS usual_service_seconds,
    seconds / NULLIF(usual_seconds, 0) AS server_slowdown_ratio, own_ratio, neighbour, neighbour_job_id, neighbour_ratio,
    len(list_filter(of_seconds, lambda each: each < load_seconds))::DOUBLE AS load_percentile, load_over_mean_ratio,
    NULL AS own_bytes_ratio, NULL AS fullest_ratio, night, cluster
FROM measured
LEFT JOIN quantiles USING (cluster, target_kind)
LEFT JOIN shares USING (cluster, night, log_id, layer, phase, target_kind)
UNION ALL BY NAME
-- Where no server says how long it took for a log's requests, what it moved for others meanwhile still counts.
SELECT
    log_id, '' AS layer, 'ost' AS target_kind, 'traffic' AS evidence, target_count, own_bytes_ratio, load_percentile, fullest_ratio,
    night, cluster
FROM core.log_load
ANTI JOIN measured USING (cluster, night, log_id)
