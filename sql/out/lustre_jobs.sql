-- ---
-- about = "What a job had a target do between two readings of job_stats, by operation."
-- grain = ["cluster", "target", "owner", "operation", "begin_at"]
-- reads = ["core.server_interval"]
-- ---
SELECT
    owner, job_id, target, target_kind, operation,
    begin_at, interval_seconds, rpc_count, moved_bytes, service_seconds, quality, night, cluster
FROM core.server_interval
WHERE scope = 'job'
