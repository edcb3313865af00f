-- ---
-- about = "What each OST did between two readings of its counters."
-- grain = ["cluster", "source_kind", "target", "begin_at"]
-- reads = ["core.server_interval"]
-- ---
SELECT
    target, TRY_CAST('0x' || regexp_extract(target, 'OST([0-9a-fA-F]+)', 1) AS BIGINT) AS ost_id,
    begin_at, interval_seconds, source_kind,
    TRY_CAST(SUM(moved_bytes) FILTER (operation = 'read') AS BIGINT) AS read_bytes,
    TRY_CAST(SUM(moved_bytes) FILTER (operation = 'write') AS BIGINT) AS write_bytes,
    TRY_CAST(SUM(rpc_count) AS BIGINT) AS rpc_count,
    SUM(service_seconds) AS service_seconds,
    SUM(moved_bytes / interval_seconds) AS bytes_per_second,
    SUM(rpc_count / interval_seconds) AS rpcs_per_second,
    COALESCE(MIN(quality) FILTER (quality <> 'sound'), 'sound') AS quality, night, cluster
FROM core.server_interval
WHERE target_kind = 'ost' AND scope = 'target' AND interval_seconds > 0
GROUP BY target, begin_at, interval_seconds, source_kind, night, cluster
