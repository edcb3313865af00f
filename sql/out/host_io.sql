-- ---
-- about = "What the ranks of one compute node did in a layer, or (layer all) what their program asked for, of nodes that are known."
-- grain = ["log_id", "layer", "host"]
-- reads = ["core.rank_io"]
-- ---
SELECT
    log_id, layer, host, MAX(evidence) AS evidence, COUNT(*) AS active_rank_count,
    TRY_CAST(SUM(read_count) AS BIGINT) AS read_count, TRY_CAST(SUM(write_count) AS BIGINT) AS write_count,
    TRY_CAST(SUM(read_bytes) AS BIGINT) AS read_bytes, TRY_CAST(SUM(write_bytes) AS BIGINT) AS write_bytes,
    SUM(read_seconds) AS read_seconds, SUM(write_seconds) AS write_seconds, night, cluster
FROM core.rank_io
WHERE host IS NOT NULL
GROUP BY log_id, layer, host, night, cluster
