-- ---
-- about = "What each metadata target did between two readings of its counters, by operation."
-- grain = ["cluster", "source_kind", "target", "operation", "begin_at"]
-- reads = ["core.server_interval"]
-- ---
SELECT
    target, operation, begin_at, interval_seconds, source_kind, rpc_count, moved_bytes, service_seconds,
    rpc_count / interval_seconds AS rpcs_per_second, moved_bytes / interval_seconds AS bytes_per_second, quality, night, cluster
FROM core.server_interval
WHERE target_kind = 'mdt' AND scope = 'target' AND interval_seconds > 0
