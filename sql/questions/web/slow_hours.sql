-- ---
-- about = "Hours in which a target took at least twice as long as usual, the worst first."
-- parts = []
-- reads = ["main.target_hours"]
-- parameters = ["name", "since", "until", "cluster"]
-- ---
SELECT
    begin_at, target, server_slowdown_ratio, "user", user_ratio, lost_service_seconds, slowed_job_count, job_count, moved_bytes,
    rpc_count, cluster
FROM main.target_hours
WHERE
    night BETWEEN $since AND $until AND ($cluster IS NULL OR cluster = $cluster) AND server_slowdown_ratio >= 2
    AND $name IN (target, regexp_extract(target, '(OST|MDT)[0-9a-f]{4,}$'))
ORDER BY lost_service_seconds DESC NULLS LAST, begin_at, target, cluster
LIMIT 20
