-- ---
-- about = "What a log opened that is not a file on storage: pipes, sockets, devices, standard streams, files of the kernel; and the time that took."
-- grain = ["log_id", "file_id"]
-- reads = ["core.special_file", "core.file_name", "lake.posix_file", "lake.mpiio_file", "lake.stdio_file"]
-- ---
WITH record AS (
    SELECT cluster, night, log_id, file_id, read_seconds, write_seconds, meta_seconds FROM lake.posix_file
    UNION ALL
    SELECT cluster, night, log_id, file_id, read_seconds, write_seconds, meta_seconds FROM lake.mpiio_file
    UNION ALL
    SELECT cluster, night, log_id, file_id, read_seconds, write_seconds, meta_seconds FROM lake.stdio_file
),
timed AS (
    SELECT
        cluster, night, log_id, file_id,
        SUM(GREATEST(read_seconds, 0) + GREATEST(write_seconds, 0) + GREATEST(meta_seconds, 0)) AS special_core_seconds
    FROM record
    JOIN core.special_file USING (cluster, night, log_id, file_id)
    GROUP BY ALL
)
SELECT
    special.log_id, special.file_id, path, special_kind, special.evidence, special_core_seconds, special.night, special.cluster
FROM core.special_file AS special
LEFT JOIN timed USING (cluster, night, log_id, file_id)
LEFT JOIN core.file_name AS file_name USING (cluster, night, log_id, file_id)
