-- ---
-- about = "How the targets of one kind dealt with what a log, or a phase of it, asked of them, and who else kept them busy."
-- grain = ["log_id", "layer", "phase", "target_kind"]
-- reads = ["core.log", "core.phase", "core.server_slot", "core.log_load"]
-- ---
WITH busy AS (
    SELECT
        *, TRY_CAST(epoch(begin_at) AS BIGINT) // 600 AS slot,
        -- The user's other jobs are not neighbours.
        CASE WHEN "user" = '' THEN owner ELSE "user" END AS who
    FROM core.server_slot
    WHERE service_seconds IS NOT NULL
),
-- Millions of sums are added up by numbers, which are in the order of names.
user_name AS (SELECT who, row_number() OVER (ORDER BY who) AS user_number FROM (SELECT DISTINCT who FROM busy)),
owner_name AS (SELECT owner, row_number() OVER (ORDER BY owner) AS owner_number FROM (SELECT DISTINCT owner FROM busy)),
busy_user AS (
    SELECT
        cluster, target, target_kind, slot, user_number, SUM(service_seconds) AS seconds,
        arg_max(owner_number, service_seconds ORDER BY owner_number) AS owner_number
    FROM busy
    JOIN user_name USING (who)
    JOIN owner_name USING (owner)
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
stretch AS MATERIALIZED (
    SELECT *, dense_rank() OVER (ORDER BY cluster, job_id, first_slot, last_slot) AS range_number
    FROM (
        SELECT
            cluster, night, log_id, job_id, '' AS layer, -1 AS phase, floor(epoch(start_at) / 600) AS first_slot,
            floor(epoch(end_at) / 600) AS last_slot
        FROM core.log
        UNION ALL
        SELECT
            cluster, night, log_id, job_id, phase.layer, phase.phase, floor((epoch(log.start_at) + phase.start_seconds) / 600),
            floor((epoch(log.start_at) + phase.end_seconds) / 600)
        FROM core.phase AS phase
        JOIN core.log AS log USING (cluster, night, log_id)
    )
),
-- The work of servers for a job in some slots is the same for all parts of its logs in these slots.
own_target AS MATERIALIZED (
    SELECT
        cluster, job_id, target, target_kind, slot, user_number,
        dense_rank() OVER (ORDER BY cluster, job_id, user_number, slot, target_kind) AS slot_number,
        SUM(rpc_count) AS rpcs, SUM(service_seconds) AS seconds, SUM(usual_service_seconds) AS usual_seconds,
        SUM(service_seconds) FILTER (usual_service_seconds IS NOT NULL) AS held_seconds
    FROM busy
    SEMI JOIN stretch USING (cluster, job_id)
    JOIN user_name USING (who)
    WHERE job_id <> ''
    GROUP BY cluster, job_id, target, target_kind, slot, user_number
),
range_slot AS MATERIALIZED (
    SELECT range_number, slot_number
    FROM (SELECT DISTINCT cluster, job_id, first_slot, last_slot, range_number FROM stretch) AS slot_range
    JOIN (SELECT DISTINCT cluster, job_id, slot, slot_number FROM own_target) AS own_slot USING (cluster, job_id)
    WHERE slot BETWEEN first_slot AND last_slot
),
shared AS (
    SELECT
        slot_number, target_kind, own.user_number = busy_user.user_number AS is_own, busy_user.user_number, owner_number,
        own.seconds * busy_user.seconds / NULLIF(target_seconds, 0) AS weight
    FROM own_target AS own
    JOIN busy_target USING (cluster, target, target_kind, slot)
    JOIN busy_user USING (cluster, target, target_kind, slot)
),
slot_share AS (
    SELECT
        slot_number, target_kind, user_number, is_own, SUM(weight) AS all_weight, MAX(weight) AS most_weight,
        arg_max(owner_number, weight ORDER BY owner_number) AS owner_number
    FROM shared
    GROUP BY ALL
),
per_user AS (
    SELECT
        range_number, target_kind, user_number, is_own, SUM(all_weight) AS all_weight,
        arg_max(owner_number, most_weight ORDER BY owner_number) AS owner_number
    FROM range_slot
    JOIN slot_share USING (slot_number)
    GROUP BY ALL
),
share AS (
    SELECT
        range_number, target_kind,
        COALESCE(SUM(all_weight) FILTER (is_own), 0) / NULLIF(SUM(all_weight), 0) AS own_ratio,
        COALESCE(MAX(all_weight) FILTER (NOT is_own), 0) / NULLIF(SUM(all_weight), 0) AS neighbour_ratio,
        arg_max(user_number, all_weight ORDER BY user_number) FILTER (NOT is_own) AS user_number,
        arg_max(owner_number, all_weight ORDER BY user_number) FILTER (NOT is_own) AS owner_number
    FROM per_user
    GROUP BY ALL
),
shares AS (
    SELECT range_number, target_kind, own_ratio, neighbour_ratio, who AS neighbour, owner AS neighbour_job_id
    FROM share
    LEFT JOIN user_name USING (user_number)
    LEFT JOIN owner_name USING (owner_number)
),
measured AS (
    SELECT
        range_number, cluster, target_kind, COUNT(DISTINCT target) AS target_count, SUM(rpcs) AS rpcs,
        SUM(seconds) AS seconds,
        -- The usual time of some requests is not known: they are taken to be as slow as the rest.
        SUM(usual_seconds) * (SUM(seconds) / NULLIF(SUM(held_seconds), 0)) AS usual_seconds,
        SUM(seconds * target_seconds) / NULLIF(SUM(seconds), 0) AS load_seconds,
        SUM(seconds * target_seconds * known_count / NULLIF(slot_seconds, 0)) / NULLIF(SUM(seconds), 0) AS load_over_mean_ratio
    FROM range_slot
    JOIN own_target USING (slot_number)
    JOIN busy_target USING (cluster, target, target_kind, slot)
    JOIN known_target USING (cluster, target_kind)
    GROUP BY ALL
),
met AS (
    SELECT * FROM measured JOIN stretch USING (range_number, cluster)
)
-- The last digits of sums differ between computations. Without them a log stays on the same side of a threshold, and a sweep sees
-- that nothing of it is new. Servers count microseconds.
SELECT
    log_id, layer, NULLIF(phase, -1) AS phase, target_kind, 'job_stats' AS evidence, target_count,
    TRY_CAST(rpcs AS BIGINT) AS rpc_count, round(seconds, 6) AS service_seconds, round(usual_seconds, 6) AS usual_service_seconds,
    round(seconds / NULLIF(usual_seconds, 0), 9) AS server_slowdown_ratio, round(own_ratio, 9) AS own_ratio, neighbour,
    neighbour_job_id, round(neighbour_ratio, 9) AS neighbour_ratio,
    len(list_filter(of_seconds, lambda each: each < load_seconds))::DOUBLE AS load_percentile,
    round(load_over_mean_ratio, 9) AS load_over_mean_ratio, NULL AS own_bytes_ratio, NULL AS fullest_ratio, night, cluster
FROM met
LEFT JOIN quantiles USING (cluster, target_kind)
LEFT JOIN shares USING (range_number, target_kind)
UNION ALL BY NAME
-- If no server has times of a log's requests, the bytes that servers moved for others meanwhile still count.
SELECT
    log_id, '' AS layer, 'ost' AS target_kind, 'traffic' AS evidence, target_count, round(own_bytes_ratio, 9) AS own_bytes_ratio,
    load_percentile, fullest_ratio, night, cluster
FROM core.log_load
ANTI JOIN met USING (cluster, night, log_id)
