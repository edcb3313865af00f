-- ---
-- about = "Whose fault it is where one log's I/O was slow: the application's, the system's or a neighbour's, as far as servers tell."
-- grain = ["log_id"]
-- reads = ["core.log", "core.weather"]
-- ---
-- In the spirit of UMAMI (Lockwood et al., PDSW-DISCS 2017), which holds a run against what is usual; here that is asked of the
-- servers' own times, so that a run is not blamed for what it did not do before.
WITH of_log AS (
    SELECT *, service_seconds - usual_service_seconds AS lost_seconds
    FROM core.weather
    WHERE phase IS NULL
),
per_log AS (
    SELECT
        cluster, night, log_id,
        SUM(service_seconds) / NULLIF(SUM(usual_service_seconds), 0) AS weather_slowdown_ratio,
        SUM(lost_seconds) AS lost_service_seconds,
        arg_max(target_kind, lost_seconds ORDER BY target_kind) AS slowest_kind,
        MAX(1 - own_ratio) FILTER (target_kind = 'ost') AS ost_contention_ratio,
        MAX(server_slowdown_ratio) FILTER (target_kind = 'ost') AS ost_slowdown_ratio,
        MAX(load_over_mean_ratio) FILTER (target_kind = 'ost') AS ost_load_over_mean_ratio,
        MAX(server_slowdown_ratio) FILTER (target_kind = 'mdt') AS mdt_slowdown_ratio,
        MAX(own_ratio) FILTER (target_kind = 'mdt') AS mdt_own_ratio,
        MAX(rpc_count) FILTER (target_kind = 'mdt') AS mdt_rpc_count
    FROM of_log
    GROUP BY ALL
),
slowest AS (
    SELECT cluster, night, log_id, target_kind AS slowest_kind, own_ratio, neighbour, neighbour_job_id, neighbour_ratio
    FROM of_log
)
SELECT
    log.log_id, log.cluster, log.night, per_log.log_id IS NOT NULL AS is_complete,
    CASE
        WHEN weather_slowdown_ratio IS NULL THEN 'unclear'
        WHEN weather_slowdown_ratio < 2 THEN 'application'
        WHEN own_ratio >= 0.5 THEN 'application'
        WHEN neighbour_ratio >= 0.5 THEN 'neighbour'
        WHEN own_ratio IS NULL THEN 'unclear'
        ELSE 'system'
    END AS weather_verdict,
    CASE
        WHEN weather_slowdown_ratio IS NULL THEN 'No server told how long it dealt with the requests of this job.'
        WHEN weather_slowdown_ratio < 2 THEN 'The servers took less than twice as long as usual for its requests.'
        WHEN own_ratio >= 0.5 THEN 'The servers were slow, and at least half of what kept them busy was its user''s own.'
        WHEN neighbour_ratio >= 0.5 THEN 'The servers were slow, and at least half of what kept them busy was one other user''s.'
        WHEN own_ratio IS NULL THEN 'The servers were slow, and it is not known what kept them busy.'
        ELSE 'The servers were slow, and nobody kept them busy for at least half of the time.'
    END AS weather_rule,
    weather_slowdown_ratio, lost_service_seconds, slowest_kind, own_ratio, neighbour, neighbour_job_id, neighbour_ratio,
    ost_contention_ratio, 1 - own_ratio AS others_ratio, ost_slowdown_ratio, ost_load_over_mean_ratio,
    mdt_slowdown_ratio, mdt_own_ratio, 1 - mdt_own_ratio AS mdt_others_ratio, mdt_rpc_count
FROM (SELECT cluster, night, log_id FROM core.log) AS log
LEFT JOIN per_log USING (cluster, night, log_id)
LEFT JOIN slowest USING (cluster, night, log_id, slowest_kind)
