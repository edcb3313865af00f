-- ---
-- about = "What a file system did in a night, how even its targets were, how slow it was and how full."
-- grain = ["cluster", "night", "filesystem"]
-- reads = ["core.server_interval", "core.target_fullness"]
-- ---
WITH per_target AS (
    SELECT
        cluster, night, regexp_extract(target, '^(.*)-(OST|MDT)', 1) AS filesystem, target, target_kind,
        SUM(moved_bytes) FILTER (operation = 'read') AS read_bytes, SUM(moved_bytes) FILTER (operation = 'write') AS write_bytes,
        SUM(moved_bytes) AS bytes, SUM(rpc_count) AS rpcs
    FROM core.server_interval
    WHERE scope = 'target'
    GROUP BY cluster, night, target, target_kind, source_kind
    -- Several sources may have the same target.
    QUALIFY row_number() OVER (PARTITION BY cluster, night, target ORDER BY source_kind) = 1
),
full_targets AS (
    SELECT cluster, night, regexp_extract(target, '^(.*)-(OST|MDT)', 1) AS filesystem, MAX(used_bytes / capacity_bytes) AS fullest_ratio
    FROM core.target_fullness
    WHERE capacity_bytes > 0 AND target_kind = 'ost'
    GROUP BY ALL
)
SELECT
    filesystem, COUNT(*) FILTER (target_kind = 'ost') AS ost_count, COUNT(*) FILTER (target_kind = 'mdt') AS mdt_count,
    TRY_CAST(SUM(read_bytes) FILTER (target_kind = 'ost') AS BIGINT) AS read_bytes,
    TRY_CAST(SUM(write_bytes) FILTER (target_kind = 'ost') AS BIGINT) AS write_bytes,
    TRY_CAST(SUM(rpcs) FILTER (target_kind = 'mdt') AS BIGINT) AS mdt_rpc_count,
    arg_max(target, bytes ORDER BY target) FILTER (target_kind = 'ost') AS busiest_target,
    MAX(bytes) FILTER (target_kind = 'ost') / NULLIF(AVG(COALESCE(bytes, 0)) FILTER (target_kind = 'ost'), 0) AS ost_max_over_mean_ratio,
    any_value(fullest_ratio) AS fullest_ratio, night, cluster
FROM per_target
LEFT JOIN full_targets USING (cluster, night, filesystem)
GROUP BY filesystem, night, cluster
