-- ---
-- about = "Whose fault it is where a log's I/O was slow: the application's, the system's or a neighbour's; with its numbers and the rule."
-- grain = ["log_id"]
-- reads = ["core.log", "core.log_weather_profile"]
-- ---
SELECT
    log_id, log.job_id, log."user", log.uid, log.app, log.start_at, log.end_at, weather_verdict, weather_rule,
    weather_slowdown_ratio, lost_service_seconds, slowest_kind, own_ratio, neighbour, neighbour_job_id, neighbour_ratio,
    ost_contention_ratio, mdt_slowdown_ratio, mdt_own_ratio, load_percentile, own_bytes_ratio, fullest_ratio, night, cluster
FROM core.log AS log
JOIN core.log_weather_profile USING (cluster, night, log_id)
