-- ---
-- about = "The number of hours in which an OST or a metadata target was slow, and who kept it busiest in the worst of them."
-- parts = []
-- reads = ["main.ost_hotspots", "main.mdt_storms"]
-- # The kind is ost or mdt.
-- parameters = ["target_kind", "first_night", "last_night"]
-- ---
WITH hour AS (
    SELECT 'ost' AS target_kind, * FROM main.ost_hotspots
    UNION ALL BY NAME
    SELECT 'mdt' AS target_kind, * FROM main.mdt_storms
)
SELECT
    cluster, target, count(*) AS hour_count, max(server_slowdown_ratio) AS slowdown_ratio,
    arg_max("user", lost_service_seconds ORDER BY begin_at) AS "user", sum(lost_service_seconds) AS lost_service_seconds
FROM hour
WHERE target_kind = $target_kind AND night BETWEEN $first_night AND $last_night
GROUP BY cluster, target
ORDER BY lost_service_seconds DESC, cluster, target
