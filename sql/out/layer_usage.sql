-- ---
-- about = "What was done in each layer of the I/O stack in a night; what goes through several layers is counted in each of them."
-- grain = ["cluster", "night", "layer"]
-- reads = ["core.layer_night"]
-- ---
SELECT
    layer,
    COUNT(DISTINCT uid) AS user_count,
    TRY_CAST(SUM(log_count) AS BIGINT) AS log_count,
    TRY_CAST(SUM(file_count) AS BIGINT) AS file_count,
    TRY_CAST(SUM(read_bytes) AS BIGINT) AS read_bytes,
    TRY_CAST(SUM(write_bytes) AS BIGINT) AS write_bytes,
    TRY_CAST(SUM(read_count) AS BIGINT) AS read_count,
    TRY_CAST(SUM(write_count) AS BIGINT) AS write_count,
    SUM(read_core_seconds) AS read_core_seconds,
    SUM(write_core_seconds) AS write_core_seconds,
    SUM(meta_core_seconds) AS meta_core_seconds,
    night, cluster
FROM core.layer_night
GROUP BY layer, night, cluster
