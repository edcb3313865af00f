-- ---
-- about = "Hours in which a target, or one of a file system's, took at least twice as long as usual, the worst first."
-- parts = ["subject_hours"]
-- reads = []
-- parameters = []
-- ---
SELECT
    begin_at, target, server_slowdown_ratio, "user", user_ratio, lost_service_seconds, slowed_job_count, job_count, moved_bytes,
    rpc_count, cluster
FROM subject_hours
WHERE server_slowdown_ratio >= 2
ORDER BY lost_service_seconds DESC NULLS LAST, begin_at, target, cluster
LIMIT 20
