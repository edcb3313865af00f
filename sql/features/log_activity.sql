-- ---
-- about = "What one log did of each kind that triggers ask about, and what it lacks to answer them; NULL where nothing is lacking."
-- grain = ["log_id"]
-- reads = [
--     "core.log", "core.module", "core.file_name", "core.posix_file", "core.stdio_file", "core.dfs_file",
--     "core.mpiio_file", "core.dxt_file", "core.lustre_component", "core.rank_io", "core.phase",
--     "core.weather", "core.darshan_build", "core.log_fabric", "main.traces",
-- ]
-- ---
-- A count of 0 makes a question not applicable, so it is 0 only where all modules that would count it were watched and are whole;
-- if one of them is not, the count is not known. Darshan writes no module if nothing of it was called, and does not
-- record that a module was turned off; only other modules show it, if they recorded calls of it.
WITH record AS (
    SELECT cluster, night, log_id, file_id, rank, is_shared, 'posix' AS layer, read_count, write_count, read_bytes, write_bytes
    FROM core.posix_file
    UNION ALL
    SELECT cluster, night, log_id, file_id, rank, is_shared, 'stdio' AS layer, read_count, write_count, read_bytes, write_bytes
    FROM core.stdio_file
    UNION ALL
    SELECT
        cluster, night, log_id, file_id, rank, is_shared, 'dfs' AS layer,
        read_count::HUGEINT + readx_count AS read_count, write_count::HUGEINT + writex_count AS write_count,
        read_bytes, write_bytes
    FROM core.dfs_file
),
layer_file AS (
    SELECT
        cluster, night, log_id, file_id, layer,
        bool_or(is_shared) AS has_shared_record, has_shared_record OR COALESCE(MIN(rank) < MAX(rank), FALSE) AS has_many_ranks,
        SUM(read_count) AS read_count, SUM(write_count) AS write_count, SUM(read_bytes::HUGEINT + write_bytes) AS moved_bytes,
        SUM(read_bytes) AS read_bytes, SUM(write_bytes) AS write_bytes,
        bool_and(read_count IS NOT NULL AND write_count IS NOT NULL AND read_bytes IS NOT NULL AND write_bytes IS NOT NULL)
            AS is_counted
    FROM record
    GROUP BY ALL
),
rank_record AS (
    -- Not from the bytes of ranks: if these could not be derived, it would look as if no rank had done anything.
    SELECT cluster, night, log_id, MAX(layer_rank_count) AS record_rank_count
    FROM (
        SELECT cluster, night, log_id, layer, COUNT(DISTINCT rank) AS layer_rank_count
        FROM record
        WHERE layer IN ('posix', 'stdio') AND read_count::HUGEINT + write_count > 0
        GROUP BY ALL
    )
    GROUP BY ALL
),
listed AS (
    SELECT DISTINCT cluster, night, log_id
    FROM core.file_name
    WHERE mount IS NOT NULL
),
laid_out AS (
    SELECT
        cluster, night, log_id, file_id,
        bool_or(stripe_count > 0 AND len(ost_ids) > 0) AS has_osts, COALESCE(MAX(stripe_count), 0) > 1 AS is_striped
    FROM core.lustre_component
    GROUP BY ALL
),
mpiio_file AS (
    SELECT
        cluster, night, log_id, file_id,
        SUM(read_bytes) AS asked_read_bytes, SUM(write_bytes) AS asked_write_bytes,
        bool_or(is_shared) OR COALESCE(MIN(rank) < MAX(rank), FALSE) AS has_many_ranks,
        SUM(indep_read_count::HUGEINT + coll_read_count + split_read_count + nb_read_count) AS read_count,
        SUM(indep_write_count::HUGEINT + coll_write_count + split_write_count + nb_write_count) AS write_count,
        SUM(indep_read_count::HUGEINT + coll_read_count + split_read_count) AS waited_read_count,
        SUM(indep_write_count::HUGEINT + coll_write_count + split_write_count) AS waited_write_count,
        SUM(coll_read_count::HUGEINT + split_read_count + coll_write_count + split_write_count) AS coll_count,
        bool_and(
            indep_read_count::HUGEINT + coll_read_count + split_read_count + nb_read_count
            + indep_write_count + coll_write_count + split_write_count + nb_write_count IS NOT NULL
        ) AS is_counted
    FROM core.mpiio_file
    GROUP BY ALL
),
placed AS (
    SELECT
        layer_file.*, asked_read_bytes, asked_write_bytes, laid_out.has_osts, laid_out.is_striped, mpiio.log_id IS NOT NULL AS is_beneath_mpiio,
        laid_out.log_id IS NOT NULL OR COALESCE(fs_type = 'lustre', FALSE) AS is_on_lustre,
        -- Darshan lists what is mounted; a relative path, or a name that is not known, may lie anywhere.
        is_on_lustre OR fs_type IS NOT NULL OR (listed.log_id IS NOT NULL AND starts_with(path, '/')) IS TRUE AS is_placed
    FROM layer_file
    LEFT JOIN core.file_name AS file_name USING (cluster, night, log_id, file_id)
    LEFT JOIN listed USING (cluster, night, log_id)
    LEFT JOIN laid_out USING (cluster, night, log_id, file_id)
    LEFT JOIN (SELECT cluster, night, log_id, file_id, asked_read_bytes, asked_write_bytes FROM mpiio_file) AS mpiio
        USING (cluster, night, log_id, file_id)
),
did AS (
    SELECT
        cluster, night, log_id,
        SUM(read_count) AS data_read_count, SUM(write_count) AS data_write_count,
        -- POSIX may move more or less for MPI-IO than the program asked for.
        SUM(CASE WHEN is_beneath_mpiio THEN asked_read_bytes ELSE read_bytes END) AS asked_read_bytes,
        SUM(CASE WHEN is_beneath_mpiio THEN asked_write_bytes ELSE write_bytes END) AS asked_write_bytes,
        -- Formats before 3.00 do not count what MPI-IO was asked for.
        bool_and(NOT is_beneath_mpiio OR asked_read_bytes::HUGEINT + asked_write_bytes IS NOT NULL) AS all_asked,
        SUM(read_count) FILTER (layer = 'posix') AS posix_read_count,
        SUM(write_count) FILTER (layer = 'posix') AS posix_write_count,
        SUM(read_count::HUGEINT + write_count) FILTER (layer = 'posix') AS posix_data_count,
        SUM(read_count::HUGEINT + write_count) FILTER (layer = 'posix' AND is_beneath_mpiio) AS beneath_request_count,
        SUM(read_count::HUGEINT + write_count) FILTER (layer = 'posix' AND NOT is_beneath_mpiio) AS direct_request_count,
        -- A file is one row of each layer, and counted once.
        COUNT(DISTINCT file_id) AS touched_file_count, COUNT(*) FILTER (layer = 'posix') AS posix_file_count,
        COUNT(DISTINCT file_id) FILTER (moved_bytes > 0) AS data_file_count,
        COUNT(*) FILTER (moved_bytes > 0 AND is_on_lustre AND layer = 'posix') AS lustre_count,
        COUNT(*) FILTER (moved_bytes > 0 AND is_on_lustre AND layer = 'posix' AND has_many_ranks) AS shared_count,
        COUNT(*) FILTER (moved_bytes > 0 AND is_striped AND layer = 'posix') AS striped_count,
        COUNT(*) FILTER (moved_bytes > 0 AND NOT is_placed AND layer = 'posix') AS unplaced_count,
        COUNT(*) FILTER (moved_bytes > 0 AND is_on_lustre AND layer = 'posix' AND has_osts IS NOT TRUE)
            AS without_osts_count,
        COALESCE(bool_or(has_shared_record) FILTER (layer IN ('posix', 'stdio')), FALSE) AS has_shared_record,
        bool_and(is_counted) AS all_counted, bool_and(is_counted) FILTER (layer = 'posix') AS posix_counted
    FROM placed
    GROUP BY ALL
),
mpiio AS (
    SELECT
        cluster, night, log_id, SUM(read_count) AS mpiio_read_request_count, SUM(write_count) AS mpiio_write_request_count,
        mpiio_read_request_count + mpiio_write_request_count AS mpiio_call_count,
        SUM(waited_read_count) FILTER (has_many_ranks) AS shared_mpiio_read_count,
        SUM(waited_write_count) FILTER (has_many_ranks) AS shared_mpiio_write_count, SUM(coll_count) AS collective_request_count,
        bool_and(is_counted) AS is_counted
    FROM mpiio_file
    GROUP BY ALL
),
fault AS (
    SELECT
        cluster, night, log_id, module,
        CASE
            WHEN state <> 'read' THEN 'The log''s ' || module || ' module is ' || state || COALESCE(': ' || NULLIF(reason, ''), '') || '.'
            WHEN is_partial THEN 'The log''s ' || module || ' module is partial: Darshan ran out of memory for its records.'
        END AS said
    FROM core.module
),
module AS (
    SELECT
        cluster, night, log_id,
        MIN(said) FILTER (module = 'POSIX') AS posix, MIN(said) FILTER (module = 'STDIO') AS stdio,
        MIN(said) FILTER (module = 'MPI-IO') AS mpiio, MIN(said) FILTER (module = 'DFS') AS dfs,
        MIN(said) FILTER (module = 'LUSTRE') AS lustre, MIN(said) FILTER (module = 'HEATMAP') AS heatmap,
        MIN(said) FILTER (module = 'DXT_POSIX') AS dxt_posix, MIN(said) FILTER (module = 'DXT_MPIIO') AS dxt_mpiio,
        COALESCE(bool_or(module = 'POSIX'), FALSE) AS has_posix, COALESCE(bool_or(module = 'STDIO'), FALSE) AS has_stdio,
        COALESCE(bool_or(module = 'MPI-IO'), FALSE) AS has_mpiio, COALESCE(bool_or(module = 'LUSTRE'), FALSE) AS has_lustre,
        COALESCE(bool_or(module = 'PNETCDF_FILE'), FALSE) AS has_pnetcdf,
        COALESCE(bool_or(module IN ('H5F', 'H5D')), FALSE) AS has_hdf5
    FROM fault
    GROUP BY ALL
),
met AS (
    -- Layers that were called whatever their own modules say, and the module that shows it.
    SELECT cluster, night, log_id, layer, MIN(met_in) AS met_in
    FROM (
        SELECT cluster, night, log_id, layer, 'a trace of it' AS met_in FROM core.dxt_file
        UNION ALL
        SELECT cluster, night, log_id, layer, 'a heat map of it' AS met_in FROM core.phase WHERE evidence = 'heatmap'
        UNION ALL
        SELECT cluster, night, log_id, 'posix' AS layer, 'requests of MPI-IO, which pass through it' AS met_in
        FROM mpiio
        WHERE mpiio_call_count > 0
    )
    GROUP BY ALL
),
trace AS (
    SELECT
        cluster, night, log_id,
        MAX(traced_count) FILTER (layer = 'posix') AS posix_traced_count,
        MAX(request_count) FILTER (layer = 'posix') AS posix_request_count,
        bool_or(is_whole) FILTER (layer = 'posix') AS is_posix_whole,
        MAX(traced_count) FILTER (layer = 'mpiio') AS mpiio_traced_count,
        MAX(request_count) FILTER (layer = 'mpiio') AS mpiio_request_count,
        bool_or(is_whole) FILTER (layer = 'mpiio') AS is_mpiio_whole
    FROM main.traces
    GROUP BY ALL
),
by_rank AS (
    SELECT
        cluster, night, log_id,
        COUNT(*) FILTER (layer = 'all') AS moving_count,
        -- Ranks are compared in each layer by itself.
        GREATEST(
            COUNT(*) FILTER (layer = 'posix' AND read_seconds + write_seconds > 0),
            COUNT(*) FILTER (layer = 'stdio' AND read_seconds + write_seconds > 0)
        ) AS timed_count,
        COUNT(DISTINCT host) FILTER (layer = 'posix') AS host_count
    FROM core.rank_io
    GROUP BY ALL
),
phases AS (
    SELECT DISTINCT cluster, night, log_id FROM core.phase WHERE layer = 'all'
),
served AS (
    SELECT DISTINCT cluster, night, log_id FROM core.weather WHERE phase IS NULL AND evidence = 'job_stats'
),
hdf5 AS (
    SELECT cluster, night, log_id, COUNT(*) AS hdf5_name_count
    FROM core.file_name
    WHERE regexp_matches(path, '[.](h5|hdf5|he5|nc4|nxs)$', 'i')
    GROUP BY ALL
),
seen AS (
    SELECT
        log.*, hdf5_name_count, COALESCE(module.has_hdf5, FALSE) AS has_hdf5, log.nprocs > 0 AS has_processes,
        did.* EXCLUDE (cluster, night, log_id), mpiio.* EXCLUDE (cluster, night, log_id),
        record_rank_count, trace.* EXCLUDE (cluster, night, log_id), by_rank.* EXCLUDE (cluster, night, log_id),
        phases.log_id IS NOT NULL AS has_phases, served.log_id IS NOT NULL AS has_statistics,
        fabric.log_id IS NOT NULL AS has_fabric, fabric.fabric_gap,
        module.lustre, module.heatmap, module.dxt_posix, module.dxt_mpiio, COALESCE(module.has_lustre, FALSE) AS has_lustre,
        COALESCE(build.stat_count, 0) > 0 AS sees_stat,
        CASE
            WHEN module.posix IS NOT NULL THEN module.posix
            WHEN module.log_id IS NULL THEN 'The log has no modules, so what Darshan watched is not known.'
            WHEN NOT has_posix AND met_posix.met_in IS NOT NULL
                THEN 'The log has no POSIX module, although it has ' || met_posix.met_in || '.'
            WHEN NOT posix_counted THEN 'The log''s POSIX module does not count all reads and writes.'
        END AS posix_lack,
        CASE
            WHEN module.stdio IS NOT NULL THEN module.stdio
            WHEN NOT has_stdio AND met_stdio.met_in IS NOT NULL
                THEN 'The log has no STDIO module, although it has ' || met_stdio.met_in || '.'
            WHEN NOT has_stdio AND regexp_matches(COALESCE(log.darshan_version, ''), '^(|[0-2]\..*|3\.0(\..*)?)$')
                THEN COALESCE('Darshan ' || log.darshan_version || ' does not watch stdio.', 'It is not known whether Darshan watched stdio.')
            ELSE module.dfs
        END AS stdio_dfs_lack,
        COALESCE(
            posix_lack, stdio_dfs_lack, CASE WHEN NOT all_counted THEN 'The log''s records do not count all reads and writes.' END
        ) AS data_lack,
        CASE
            WHEN module.mpiio IS NOT NULL THEN module.mpiio
            WHEN module.log_id IS NULL THEN posix_lack
            WHEN NOT has_mpiio AND met_mpiio.met_in IS NOT NULL
                THEN 'The log has no MPI-IO module, although it has ' || met_mpiio.met_in || '.'
            WHEN NOT has_mpiio AND has_pnetcdf THEN 'The log has no MPI-IO module, although it has files of PnetCDF, which pass through it.'
            WHEN NOT mpiio.is_counted THEN 'The log''s MPI-IO module does not count all requests.'
        END AS mpiio_lack
    FROM (SELECT cluster, night, log_id, nprocs, darshan_version FROM core.log) AS log
    LEFT JOIN did USING (cluster, night, log_id)
    LEFT JOIN mpiio USING (cluster, night, log_id)
    LEFT JOIN module USING (cluster, night, log_id)
    LEFT JOIN (FROM met WHERE layer = 'posix') AS met_posix USING (cluster, night, log_id)
    LEFT JOIN (FROM met WHERE layer = 'stdio') AS met_stdio USING (cluster, night, log_id)
    LEFT JOIN (FROM met WHERE layer = 'mpiio') AS met_mpiio USING (cluster, night, log_id)
    LEFT JOIN trace USING (cluster, night, log_id)
    LEFT JOIN rank_record USING (cluster, night, log_id)
    LEFT JOIN by_rank USING (cluster, night, log_id)
    LEFT JOIN hdf5 USING (cluster, night, log_id)
    LEFT JOIN phases USING (cluster, night, log_id)
    LEFT JOIN served USING (cluster, night, log_id)
    LEFT JOIN (SELECT cluster, night, log_id, fabric_gap FROM core.log_fabric) AS fabric USING (cluster, night, log_id)
    LEFT JOIN core.darshan_build AS build
        ON build.cluster = log.cluster AND build.night = log.night
        AND COALESCE(build.darshan_version, '') = COALESCE(log.darshan_version, '')
)
SELECT
    log_id, cluster, night,
    CASE WHEN has_processes THEN nprocs END AS process_count,
    -- Few Darshan libraries are built with its module of HDF5, so names count too.
    GREATEST(COALESCE(hdf5_name_count, 0), has_hdf5::INTEGER) AS hdf5_file_count,
    NULLIF(host_count, 0) AS known_node_count,
    -- A count above 0 is valid; 0 is known only if nothing is lacking.
    TRY_CAST(
        CASE WHEN COLUMNS('^(data_(read|write|file)|touched_file)_count$') > 0 OR data_lack IS NULL
            THEN COALESCE(COLUMNS('^(data_(read|write|file)|touched_file)_count$'), 0)
        END AS BIGINT
    ) AS '\0',
    TRY_CAST(
        CASE WHEN COLUMNS('^asked_(read|write)_bytes$') > 0 OR (COALESCE(data_lack, mpiio_lack) IS NULL AND all_asked IS NOT FALSE)
            THEN COALESCE(COLUMNS('^asked_(read|write)_bytes$'), 0)
        END AS BIGINT
    ) AS '\0',
    TRY_CAST(
        CASE WHEN COLUMNS('^(posix_(read|write|data|file)|direct_request)_count$') > 0 OR posix_lack IS NULL
            THEN COALESCE(COLUMNS('^(posix_(read|write|data|file)|direct_request)_count$'), 0)
        END AS BIGINT
    ) AS '\0',
    TRY_CAST(
        CASE WHEN beneath_request_count > 0 OR COALESCE(posix_lack, mpiio_lack) IS NULL
            THEN COALESCE(beneath_request_count, 0)
        END AS BIGINT
    ) AS beneath_request_count,
    TRY_CAST(
        CASE WHEN COLUMNS('^(mpiio_(call|read_request|write_request)|shared_mpiio_(read|write)|collective_request)_count$') > 0 OR mpiio_lack IS NULL
            THEN COALESCE(COLUMNS('^(mpiio_(call|read_request|write_request)|shared_mpiio_(read|write)|collective_request)_count$'), 0)
        END AS BIGINT
    ) AS '\0',
    CASE WHEN lustre_count > 0 OR (posix_lack IS NULL AND COALESCE(unplaced_count, 0) = 0) THEN COALESCE(lustre_count, 0) END
        AS lustre_file_count,
    CASE WHEN shared_count > 0 OR (posix_lack IS NULL AND COALESCE(unplaced_count, 0) = 0) THEN COALESCE(shared_count, 0) END
        AS shared_lustre_file_count,
    CASE
        WHEN striped_count > 0 OR COALESCE(
            posix_lack, lustre, CASE WHEN unplaced_count + without_osts_count > 0 THEN 'Some OSTs are not known.' END
        ) IS NULL THEN COALESCE(striped_count, 0)
    END AS striped_file_count,
    -- Ranks without records of their own may still be in those of all ranks together.
    CASE
        WHEN timed_count > 3 THEN timed_count
        WHEN data_lack IS NULL AND has_shared_record IS NOT TRUE THEN COALESCE(record_rank_count, 0)
    END AS timed_rank_count,
    data_lack, posix_lack, mpiio_lack,
    CASE
        WHEN dxt_posix IS NOT NULL THEN dxt_posix
        WHEN posix_traced_count IS NULL THEN 'The log has no trace of its POSIX requests.'
        WHEN NOT is_posix_whole
            THEN format('Its trace has {} of {} POSIX requests.', posix_traced_count, COALESCE(posix_request_count::VARCHAR, 'an unknown number'))
    END AS trace_lack,
    CASE
        WHEN dxt_mpiio IS NOT NULL THEN dxt_mpiio
        WHEN mpiio_traced_count IS NULL THEN 'The log has no trace of its MPI-IO requests.'
        WHEN NOT is_mpiio_whole
            THEN format('Its trace has {} of {} MPI-IO requests.', mpiio_traced_count, COALESCE(mpiio_request_count::VARCHAR, 'an unknown number'))
    END AS mpiio_trace_lack,
    CASE
        WHEN lustre IS NOT NULL THEN lustre
        WHEN lustre_count > 0 AND NOT has_lustre
            THEN format('The log has no LUSTRE module, although {} of its files lie{} on Lustre.', lustre_count, CASE lustre_count WHEN 1 THEN 's' ELSE '' END)
        WHEN unplaced_count > 0
            THEN format('It is not known on which file system {} of its files lie{}.', unplaced_count, CASE unplaced_count WHEN 1 THEN 's' ELSE '' END)
        WHEN without_osts_count > 0
            THEN format('The LUSTRE module names no OSTs of {} of its files.', without_osts_count)
    END AS layout_lack,
    CASE
        WHEN COALESCE(moving_count, 0) = 0
            THEN 'Its records are of all ranks together, and no trace or heat map shows what each rank moved.'
    END AS rank_lack,
    CASE
        WHEN COALESCE(timed_count, 0) < 4 THEN format('I/O times are known of {} of its {} ranks.', COALESCE(timed_count, 0), nprocs)
    END AS rank_time_lack,
    CASE WHEN COALESCE(host_count, 0) = 0 THEN 'The log does not name the hosts of its ranks.' END AS host_lack,
    CASE
        WHEN NOT has_phases THEN COALESCE(heatmap, dxt_posix, 'The log has neither a heat map nor a trace.')
    END AS phase_lack,
    CASE
        WHEN NOT sees_stat
            THEN format('Darshan {}counted no stat in any log of this night, so it may see none.', COALESCE(darshan_version || ' ', ''))
    END AS stat_lack,
    CASE WHEN NOT has_statistics THEN 'No job_stats of Lustre servers cover the time of the run.' END AS statistics_lack,
    CASE WHEN has_fabric THEN fabric_gap ELSE 'The links between nodes and servers are not known of the time of the run.' END AS fabric_lack
FROM seen
