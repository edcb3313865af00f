-- ---
-- about = "How many of a log's requests in a layer its trace holds, and whether these are all."
-- grain = ["log_id", "layer"]
-- reads = ["core.file_access", "core.posix_file", "core.stdio_file", "core.mpiio_file", "core.unsound_module"]
-- ---
WITH traced AS (
    SELECT cluster, night, log_id, layer, SUM(request_count) AS traced_count
    FROM core.file_access
    GROUP BY ALL
),
counted AS (
    SELECT cluster, night, log_id, 'posix' AS layer, SUM(read_count::HUGEINT + write_count) AS request_count
    FROM core.posix_file
    GROUP BY ALL
    UNION ALL
    SELECT cluster, night, log_id, 'stdio' AS layer, SUM(read_count::HUGEINT + write_count) AS request_count
    FROM core.stdio_file
    GROUP BY ALL
    UNION ALL
    SELECT
        cluster, night, log_id, 'mpiio' AS layer,
        SUM(
            indep_read_count::HUGEINT + coll_read_count + split_read_count + nb_read_count
            + indep_write_count + coll_write_count + split_write_count + nb_write_count
        ) AS request_count
    FROM core.mpiio_file
    GROUP BY ALL
),
unsound AS (
    SELECT DISTINCT
        cluster, night, log_id,
        CASE WHEN module IN ('POSIX', 'DXT_POSIX') THEN 'posix' WHEN module = 'STDIO' THEN 'stdio' ELSE 'mpiio' END AS layer
    FROM core.unsound_module
    WHERE module IN ('POSIX', 'DXT_POSIX', 'STDIO', 'MPI-IO', 'DXT_MPIIO')
)
SELECT
    log_id, layer, TRY_CAST(traced_count AS BIGINT) AS traced_count, TRY_CAST(request_count AS BIGINT) AS request_count,
    COALESCE(traced_count = request_count, FALSE) AND unsound.log_id IS NULL AS is_whole, night, cluster
FROM traced
LEFT JOIN counted USING (cluster, night, log_id, layer)
LEFT JOIN unsound USING (cluster, night, log_id, layer)
