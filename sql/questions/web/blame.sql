-- ---
-- about = "Whose fault slow I/O was: for each verdict how many runs, and the sentence of the one that lost most."
-- parts = []
-- reads = ["main.job_weather", "main.logs", "core.owner_doubt"]
-- parameters = ["kind", "name", "since", "until", "cluster"]
-- ---
SELECT
    weather_verdict, count(*) AS log_count, count(*) FILTER (WHERE is_slow_run) AS slow_run_count,
    -- Servers that were faster than usual lost nothing.
    CASE WHEN sum(lost_service_seconds) < 0 THEN 0 ELSE sum(lost_service_seconds) END AS lost_service_seconds, max(run_slowdown_ratio) AS run_slowdown_ratio,
    arg_max(weather_rule, coalesce(lost_service_seconds, 0) ORDER BY log_id) AS weather_rule,
    arg_max(log_id, coalesce(lost_service_seconds, 0) ORDER BY log_id) AS log_id
FROM main.job_weather
JOIN (SELECT cluster, night, log_id, application FROM main.logs) AS log USING (cluster, night, log_id)
ANTI JOIN core.owner_doubt USING (cluster, night, log_id)
WHERE
    night BETWEEN $since AND $until AND ($cluster IS NULL OR cluster = $cluster)
    -- The view calls a run unexplained also where it was not slow, and there is nothing to explain.
    AND (weather_verdict <> 'unexplained' OR is_slow_run)
    AND CASE $kind
        WHEN 'user' THEN coalesce(nullif("user", ''), uid::VARCHAR) = $name
        WHEN 'application' THEN $name IN (application, app)
        ELSE $kind IS NULL
    END
GROUP BY weather_verdict
ORDER BY
    weather_verdict IN ('unclear', 'unexplained'), lost_service_seconds DESC NULLS LAST, log_count DESC, weather_verdict
