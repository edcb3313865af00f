-- ---
-- about = "In how many hours a metadata target was slow, and who kept it busiest in the worst of them."
-- parts = []
-- reads = ["main.mdt_storms"]
-- parameters = ["first_night", "last_night"]
-- ---
SELECT
    cluster, target, count(*) AS hour_count, max(server_slowdown_ratio) AS slowdown_ratio,
    arg_max("user", lost_service_seconds ORDER BY begin_at) AS "user", sum(lost_service_seconds) AS lost_service_seconds
FROM main.mdt_storms
WHERE night BETWEEN $first_night AND $last_night
GROUP BY cluster, target
ORDER BY lost_service_seconds DESC, cluster, target
