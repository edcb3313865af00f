-- ---
-- about = "What a user's program did in a layer of the I/O stack in a night; a file counts once for each log that touched it."
-- grain = ["cluster", "night", "user", "uid", "app", "layer"]
-- reads = ["core.log_layer", "core.log", "core.owner_doubt"]
-- ---
SELECT
    "user", uid, app, layer,
    COUNT(*) AS log_count,
    TRY_CAST(SUM(file_count) AS BIGINT) AS file_count,
    TRY_CAST(SUM(in_layer.read_bytes) AS BIGINT) AS read_bytes,
    TRY_CAST(SUM(in_layer.write_bytes) AS BIGINT) AS write_bytes,
    TRY_CAST(SUM(in_layer.read_count) AS BIGINT) AS read_count,
    TRY_CAST(SUM(in_layer.write_count) AS BIGINT) AS write_count,
    SUM(read_core_seconds ORDER BY log_id) AS read_core_seconds,
    SUM(write_core_seconds ORDER BY log_id) AS write_core_seconds,
    SUM(meta_core_seconds ORDER BY log_id) AS meta_core_seconds,
    night, cluster
FROM core.log_layer AS in_layer
JOIN core.log AS log USING (cluster, night, log_id)
ANTI JOIN core.owner_doubt USING (cluster, night, log_id)
GROUP BY "user", uid, app, layer, night, cluster
