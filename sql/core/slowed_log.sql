-- ---
-- about = "Which logs met with slow servers or links, whose doing that was, and whether it excuses what their findings cost."
-- grain = ["log_id"]
-- reads = ["core.log_weather_profile", "core.log_fabric_profile"]
-- ---
WITH met AS (
    SELECT
        cluster, night, log_id, server_verdict, fabric_verdict, weather_slowdown_ratio,
        run_slowdown_ratio >= 1.5 AS is_slow_run
    FROM core.log_weather_profile
    LEFT JOIN (SELECT cluster, night, log_id, fabric_verdict FROM core.log_fabric_profile) AS fabric USING (cluster, night, log_id)
)
SELECT
    log_id,
    CASE
        WHEN server_verdict IN ('system', 'neighbour') THEN server_verdict
        WHEN fabric_verdict IN ('faulty', 'congested') THEN 'fabric'
    END AS slowed_by,
    is_slow_run,
    CASE
        -- What its user did to the servers made it slow, whatever links did.
        WHEN slowed_by IS NULL OR server_verdict = 'own' THEN false
        -- Servers' traffic says what a log met with, and not that this made it slow.
        WHEN slowed_by <> 'fabric' AND weather_slowdown_ratio IS NULL THEN COALESCE(is_slow_run, false)
        ELSE COALESCE(is_slow_run, true)
    END AS is_excused,
    night, cluster
FROM met
