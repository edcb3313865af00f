-- ---
-- about = "Pairs of users: one whose I/O was slow, and a neighbour whose requests kept the same targets busy."
-- grain = ["cluster", "night", "user", "neighbour", "slowest_kind"]
-- reads = ["main.job_weather", "core.owner_doubt"]
-- ---
SELECT
    "user", neighbour, slowest_kind, COUNT(*) AS log_count, SUM(lost_service_seconds) AS lost_service_seconds,
    AVG(weather_slowdown_ratio) AS weather_slowdown_ratio, AVG(neighbour_ratio) AS neighbour_ratio, night, cluster
FROM main.job_weather
-- An anti join would open the doubts of all nights.
LEFT JOIN core.owner_doubt AS owner_doubt USING (cluster, night, log_id)
WHERE weather_verdict = 'neighbour' AND owner_doubt.log_id IS NULL
GROUP BY "user", neighbour, slowest_kind, night, cluster
ORDER BY lost_service_seconds DESC, "user", neighbour, slowest_kind, night, cluster
