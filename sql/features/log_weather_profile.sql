-- ---
-- about = "How servers dealt with one log's requests and who kept them busy, and how long its I/O took beside runs of its lineage."
-- grain = ["log_id"]
-- reads = ["core.log", "core.weather", "core.run_usual", "feature.log_meta_profile"]
-- ---
-- In the spirit of UMAMI (Lockwood et al., PDSW-DISCS 2017), which compares a run with what is usual; here the servers' own
-- times are compared, so that a run is not blamed for what it did not do before. If servers count no times, what others
-- moved is compared with what they usually move. The log's own share of that is no evidence: a run that is slow for any
-- reason lasts longer, and others move more in that time.
WITH met AS (
    SELECT *
    FROM core.weather
    WHERE phase IS NULL
),
of_log AS (
    SELECT *
    FROM met
    WHERE evidence = 'job_stats'
),
traffic AS (
    SELECT cluster, night, log_id, load_percentile, own_bytes_ratio, fullest_ratio
    FROM met
    WHERE evidence = 'traffic'
),
ost AS (
    SELECT *, GREATEST(0, 1 - 1 / NULLIF(server_slowdown_ratio, 0)) AS slow_ratio
    FROM of_log
    WHERE target_kind = 'ost'
),
mdt AS (
    SELECT *, GREATEST(0, 1 - 1 / NULLIF(server_slowdown_ratio, 0)) AS slow_ratio
    FROM of_log
    WHERE target_kind = 'mdt'
),
meta AS (
    SELECT cluster, night, log_id, meta_ratio
    FROM feature.log_meta_profile
),
per_log AS (
    SELECT
        cluster, night, log_id,
        ost.server_slowdown_ratio AS ost_slowdown_ratio, mdt.server_slowdown_ratio AS mdt_slowdown_ratio,
        ost.own_ratio AS ost_own_ratio, mdt.own_ratio AS mdt_own_ratio, mdt.rpc_count AS mdt_rpc_count,
        ost.load_over_mean_ratio AS ost_load_over_mean_ratio,
        COALESCE(ost.service_seconds - ost.usual_service_seconds, 0) + COALESCE(mdt.service_seconds - mdt.usual_service_seconds, 0)
            AS lost_service_seconds,
        -- Clients wait for much that servers do not see; the program's own times show how much of them depends on which servers.
        (1 - meta_ratio) * COALESCE(ost.slow_ratio, 0) AS ost_lost_ratio, meta_ratio * COALESCE(mdt.slow_ratio, 0) AS mdt_lost_ratio,
        1 / (1 - ost_lost_ratio - mdt_lost_ratio) AS weather_slowdown_ratio,
        CASE WHEN mdt_lost_ratio > ost_lost_ratio OR ost.log_id IS NULL THEN 'mdt' ELSE 'ost' END AS slowest_kind
    FROM ost
    FULL JOIN mdt USING (cluster, night, log_id)
    LEFT JOIN meta USING (cluster, night, log_id)
),
slowest AS (
    SELECT cluster, night, log_id, target_kind AS slowest_kind, own_ratio, neighbour, neighbour_job_id, neighbour_ratio
    FROM of_log
)
SELECT
    log.log_id, log.cluster, log.night, per_log.log_id IS NOT NULL AS is_complete,
    CASE
        WHEN traffic.log_id IS NOT NULL THEN CASE
            WHEN load_percentile >= 95 THEN 'system'
            WHEN fullest_ratio >= 0.9 THEN 'system'
            WHEN load_percentile IS NULL THEN 'unclear'
            WHEN meta_ratio >= 0.5 THEN 'unclear'
            ELSE 'fair'
        END
        WHEN weather_slowdown_ratio IS NULL THEN 'unclear'
        WHEN weather_slowdown_ratio < 1.75 THEN 'fair'
        WHEN own_ratio >= 0.5 THEN 'own'
        WHEN neighbour_ratio >= 0.5 THEN 'neighbour'
        WHEN own_ratio IS NULL THEN 'unclear'
        ELSE 'system'
    END AS server_verdict,
    CASE
        WHEN traffic.log_id IS NOT NULL THEN CASE
            WHEN load_percentile >= 95 THEN 'Others moved more on its OSTs than in 95% of the time of 30 nights.'
            WHEN fullest_ratio >= 0.9 THEN 'At least one of its OSTs was 90% full.'
            WHEN load_percentile IS NULL THEN 'It is not known how much others usually move on its OSTs.'
            WHEN meta_ratio >= 0.5 THEN 'It spent most of its time in metadata calls, and no server says how long it took for these.'
            ELSE 'By the servers'' traffic, others moved no more on its OSTs than they often do, and none of these is known to have been full.'
        END
        WHEN per_log.log_id IS NULL THEN 'No server says how long it took for the requests of this job.'
        WHEN weather_slowdown_ratio IS NULL THEN 'It is not known how much of its time hung on which servers.'
        WHEN weather_slowdown_ratio < 1.75 THEN 'By job_stats, the servers made its I/O less than 1.75 times as long as usual.'
        WHEN own_ratio >= 0.5 THEN 'The servers were slow, and at least half of what kept them busy was its user''s own.'
        WHEN neighbour_ratio >= 0.5 THEN 'The servers were slow, and at least half of what kept them busy was one other user''s.'
        WHEN own_ratio IS NULL THEN 'The servers were slow, and it is not known what kept them busy.'
        ELSE 'The servers were slow, and no single user kept them busy for at least half of the time.'
    END AS server_rule,
    weather_slowdown_ratio, lost_service_seconds, slowest_kind, own_ratio, neighbour, neighbour_job_id, neighbour_ratio,
    1 - ost_own_ratio AS ost_contention_ratio, 1 - own_ratio AS others_ratio, ost_slowdown_ratio, ost_load_over_mean_ratio,
    mdt_slowdown_ratio, mdt_own_ratio, 1 - mdt_own_ratio AS mdt_others_ratio, mdt_rpc_count,
    load_percentile, own_bytes_ratio, fullest_ratio, lineage_run_count, alike_run_count, run_slowdown_ratio, did_more_ratio,
    differences
FROM (SELECT cluster, night, log_id FROM core.log) AS log
LEFT JOIN per_log USING (cluster, night, log_id)
LEFT JOIN slowest USING (cluster, night, log_id, slowest_kind)
LEFT JOIN traffic USING (cluster, night, log_id)
LEFT JOIN meta USING (cluster, night, log_id)
LEFT JOIN core.run_usual USING (cluster, night, log_id)
