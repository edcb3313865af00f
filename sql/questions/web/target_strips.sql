-- ---
-- about = "How slow each target was hour by hour, the one that lost most first, and who had most of it."
-- parts = ["subject_hours"]
-- reads = []
-- parameters = []
-- ---
SELECT
    target, max(server_slowdown_ratio) AS server_slowdown_ratio, count(*) FILTER (WHERE server_slowdown_ratio >= 2) AS hour_count,
    sum(lost_service_seconds) FILTER (WHERE server_slowdown_ratio >= 2) AS lost_service_seconds,
    arg_max("user", lost_service_seconds ORDER BY begin_at) FILTER (WHERE server_slowdown_ratio >= 2) AS "user",
    max(slowed_job_count) FILTER (WHERE server_slowdown_ratio >= 2) AS slowed_job_count,
    list(begin_at ORDER BY begin_at) AS hours, list(server_slowdown_ratio ORDER BY begin_at) AS hour_slowdown_ratios,
    list("user" ORDER BY begin_at) AS hour_users, count(*) OVER () AS target_count, cluster
FROM subject_hours
GROUP BY cluster, target
ORDER BY lost_service_seconds DESC NULLS LAST, target, cluster
LIMIT 32
