-- ---
-- about = "What Drishti works out of one log's MPI-IO records, and whether it has any; split calls are not counted, as there."
-- grain = ["log_id"]
-- reads = ["core.data_quality", "core.log", "core.module", "lake.mpiio_file"]
-- ---
WITH doubted AS (
    SELECT DISTINCT cluster, night, log_id
    FROM core.data_quality
    WHERE table_name = 'mpiio_file' AND regexp_matches(column_name, '^(indep|coll|nb)_(read|write)_count$')
),
per_log AS (
    SELECT
        cluster, night, log_id,
        COUNT(*) AS record_count,
        -- Drishti takes a -1 for a number, so this reads the lake and not core, where it has become NULL.
        SUM(indep_read_count) AS indep_read_count, SUM(indep_write_count) AS indep_write_count,
        SUM(coll_read_count) AS coll_read_count, SUM(coll_write_count) AS coll_write_count,
        SUM(nb_read_count) AS nb_read_count, SUM(nb_write_count) AS nb_write_count
    FROM lake.mpiio_file
    -- A number that no run can have is -1 there too. Drishti saw the number, so what it says of its sum is not known.
    ANTI JOIN doubted USING (cluster, night, log_id)
    GROUP BY ALL
),
module AS (
    SELECT cluster, night, log_id, bool_and(state = 'read') AS is_read
    FROM core.module
    WHERE module = 'MPI-IO'
    GROUP BY ALL
)
SELECT
    log.log_id, log.cluster, log.night,
    -- If the log has no such module, the only question is whether it has one, and nothing is missing for that.
    COALESCE(is_read, TRUE) AS is_complete,
    (module.log_id IS NULL)::BIGINT AS no_mpiio,
    record_count,
    TRY_CAST(indep_read_count + coll_read_count AS BIGINT) AS mpiio_read_count,
    TRY_CAST(indep_write_count + coll_write_count AS BIGINT) AS mpiio_write_count,
    TRY_CAST(coll_read_count AS BIGINT) AS coll_read_count, TRY_CAST(coll_write_count AS BIGINT) AS coll_write_count,
    TRY_CAST(nb_read_count AS BIGINT) AS nb_read_count, TRY_CAST(nb_write_count AS BIGINT) AS nb_write_count
FROM (SELECT cluster, night, log_id FROM core.log) AS log
LEFT JOIN per_log USING (cluster, night, log_id)
LEFT JOIN module USING (cluster, night, log_id)
