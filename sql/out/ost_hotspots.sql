-- ---
-- about = "Who loads which OST, and when: hours in which an OST took at least twice as long as usual, the worst first."
-- grain = ["cluster", "night", "target", "begin_at"]
-- reads = ["main.target_hours"]
-- ---
SELECT
    target, begin_at, "user", user_ratio, server_slowdown_ratio, service_seconds, usual_service_seconds, lost_service_seconds,
    rpc_count, moved_bytes, job_count, slowed_job_count, night, cluster
FROM main.target_hours
WHERE target_kind = 'ost' AND server_slowdown_ratio >= 2
ORDER BY lost_service_seconds DESC, target, begin_at, night, cluster
