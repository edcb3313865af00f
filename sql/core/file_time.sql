-- ---
-- about = "Where the I/O time of a log went: of each file its reads, writes, metadata calls, and in MPI-IO waiting for those that move the data of all, and other waiting or exchange; all of a log add up to its I/O time."
-- grain = ["log_id", "file_id", "time_kind"]
-- reads = ["core.posix_file", "core.mpiio_file", "core.stdio_file", "core.dfs_file", "core.log", "core.waited_file"]
-- ---
-- Floats are added up in order: sums are stored, and must be the same to the last digit each time that a night is swept.
WITH record AS (
    SELECT cluster, night, log_id, file_id, 'posix' AS layer, read_seconds, write_seconds, meta_seconds FROM core.posix_file
    UNION ALL
    SELECT cluster, night, log_id, file_id, 'mpiio', read_seconds, write_seconds, meta_seconds FROM core.mpiio_file
    UNION ALL
    SELECT cluster, night, log_id, file_id, 'other', read_seconds, write_seconds, meta_seconds FROM core.stdio_file
    UNION ALL
    SELECT cluster, night, log_id, file_id, 'other', read_seconds, write_seconds, meta_seconds FROM core.dfs_file
),
per_file AS (
    SELECT
        cluster, night, log_id, file_id, bool_or(layer = 'posix') AS has_posix,
        COALESCE(list_sum(list_sort(list(read_seconds) FILTER (layer = 'posix'))), 0) AS posix_read,
        COALESCE(list_sum(list_sort(list(write_seconds) FILTER (layer = 'posix'))), 0) AS posix_write,
        COALESCE(list_sum(list_sort(list(meta_seconds) FILTER (layer = 'posix'))), 0) AS posix_meta,
        COALESCE(list_sum(list_sort(list(read_seconds) FILTER (layer = 'other'))), 0) AS other_read,
        COALESCE(list_sum(list_sort(list(write_seconds) FILTER (layer = 'other'))), 0) AS other_write,
        COALESCE(list_sum(list_sort(list(meta_seconds) FILTER (layer = 'other'))), 0) AS other_meta,
        COALESCE(list_sum(list_sort(list(read_seconds) FILTER (layer = 'mpiio'))), 0) AS called_read,
        COALESCE(list_sum(list_sort(list(write_seconds) FILTER (layer = 'mpiio'))), 0) AS called_write,
        COALESCE(list_sum(list_sort(list(meta_seconds) FILTER (layer = 'mpiio'))), 0) AS called_meta,
        SUM(COALESCE(read_seconds, 0) + COALESCE(write_seconds, 0) + COALESCE(meta_seconds, 0) ORDER BY read_seconds, write_seconds, meta_seconds)
            FILTER (layer = 'mpiio') AS called,
        posix_read + posix_write + posix_meta AS beneath,
        -- Non-blocking calls of MPI-IO may take longer in POSIX than in MPI-IO: then POSIX time is cut to that of the calls.
        CASE WHEN called < beneath THEN called / beneath ELSE 1 END AS part
    FROM record
    GROUP BY ALL
),
timed AS (
    SELECT
        cluster, night, log_id, file_id,
        unnest([
            {time_kind: 'read', seconds: CASE WHEN has_posix THEN posix_read * part ELSE called_read END + other_read},
            {time_kind: 'write', seconds: CASE WHEN has_posix THEN posix_write * part ELSE called_write END + other_write},
            {time_kind: 'meta', seconds: CASE WHEN has_posix THEN posix_meta * part ELSE called_meta END + other_meta},
            {time_kind: 'held', seconds: held},
            {time_kind: 'waiting', seconds: waiting - held}
        ], recursive := true)
    FROM (
        SELECT
            *,
            -- Without a record of POSIX it is not known what calls waited for: they are reads, writes and metadata calls.
            CASE WHEN has_posix THEN GREATEST(0, COALESCE(called - beneath, 0)) ELSE 0 END AS waiting,
            -- Sums of the same numbers in another order may differ in the last digit.
            LEAST(COALESCE(held_seconds, 0), waiting) AS held
        FROM per_file
        LEFT JOIN (SELECT cluster, night, log_id, file_id, held_seconds FROM core.waited_file) AS waited
            USING (cluster, night, log_id, file_id)
    )
),
-- Sum and parts come from one scan: DuckDB computes all nights of a subquery that is read twice, whichever is asked for.
summed AS (
    SELECT
        cluster, night, log_id, list_sum(list_sort(list(seconds))) AS all_seconds,
        list({file_id: file_id, time_kind: time_kind, seconds: seconds}) FILTER (seconds > 0) AS parts
    FROM timed
    GROUP BY ALL
),
parted AS (
    SELECT cluster, night, log_id, all_seconds, unnest(parts, recursive := true)
    FROM summed
)
SELECT
    log_id, file_id, time_kind,
    -- Calls of several threads overlap; a log's I/O time is cut to its run.
    seconds * LEAST(1, COALESCE(io_core_seconds / NULLIF(all_seconds, 0), 1)) AS kind_seconds, night, cluster
FROM parted
JOIN (SELECT cluster, night, log_id, io_core_seconds FROM core.log) AS log USING (cluster, night, log_id)
