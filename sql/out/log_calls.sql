-- ---
-- about = "How often a log called what in each layer: opens, stats, seeks, syncs, reads, writes and others, of all ranks together."
-- grain = ["log_id", "layer", "call_kind"]
-- reads = [
--     "core.posix_file", "core.mpiio_file", "core.stdio_file", "core.dfs_file", "core.daos_object", "core.h5d_dataset",
--     "core.h5f_file", "core.pnetcdf_variable", "core.pnetcdf_file",
-- ]
-- ---
WITH counted AS (
    SELECT
        'posix' AS layer, cluster, night, log_id, SUM(open_count) AS "open", SUM(stat_count) AS "stat", SUM(seek_count) AS "seek",
        SUM(mmap_count) AS "mmap", SUM(fsync_count::HUGEINT + fdsync_count) AS "sync", SUM(rename_source_count) AS "rename",
        SUM(read_count) AS "read", SUM(write_count) AS "write"
    FROM core.posix_file
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT
        'mpiio' AS layer, cluster, night, log_id, SUM(indep_open_count) AS "independent open",
        SUM(coll_open_count) AS "collective open", SUM(view_count) AS "set view", SUM(sync_count) AS "sync",
        SUM(indep_read_count) AS "independent read", SUM(coll_read_count) AS "collective read",
        SUM(split_read_count) AS "split read", SUM(nb_read_count) AS "non-blocking read",
        SUM(indep_write_count) AS "independent write", SUM(coll_write_count) AS "collective write",
        SUM(split_write_count) AS "split write", SUM(nb_write_count) AS "non-blocking write"
    FROM core.mpiio_file
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT
        'stdio' AS layer, cluster, night, log_id, SUM(open_count) AS "open", SUM(seek_count) AS "seek", SUM(flush_count) AS "flush",
        SUM(read_count) AS "read", SUM(write_count) AS "write"
    FROM core.stdio_file
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT
        'dfs' AS layer, cluster, night, log_id, SUM(open_count::HUGEINT + global_open_count) AS "open", SUM(lookup_count) AS "lookup",
        SUM(stat_count) AS "stat", SUM(get_size_count) AS "get size", SUM(punch_count) AS "punch", SUM(remove_count) AS "remove",
        SUM(read_count::HUGEINT + readx_count) AS "read", SUM(write_count::HUGEINT + writex_count) AS "write"
    FROM core.dfs_file
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT
        'daos' AS layer, cluster, night, log_id, SUM(obj_open_count::HUGEINT + array_open_count + kv_open_count) AS "open",
        SUM(obj_fetch_count::HUGEINT + array_read_count + kv_get_count) AS "read",
        SUM(obj_update_count::HUGEINT + array_write_count + kv_put_count) AS "write",
        SUM(obj_punch_count::HUGEINT + obj_dkey_punch_count + obj_akey_punch_count + array_punch_count) AS "punch",
        SUM(obj_dkey_list_count::HUGEINT + obj_akey_list_count + obj_recx_list_count + kv_list_count) AS "list",
        SUM(array_get_size_count::HUGEINT + array_set_size_count + array_stat_count) AS "stat",
        SUM(array_destroy_count::HUGEINT + kv_remove_count + kv_destroy_count) AS "remove"
    FROM core.daos_object
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT
        'hdf5' AS layer, cluster, night, log_id, SUM(open_count) AS "open dataset", SUM(flush_count) AS "flush dataset",
        SUM(read_count) AS "read", SUM(write_count) AS "write"
    FROM core.h5d_dataset
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT 'hdf5' AS layer, cluster, night, log_id, SUM(open_count) AS "open", SUM(flush_count) AS "flush"
    FROM core.h5f_file
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT
        'pnetcdf' AS layer, cluster, night, log_id, SUM(open_count) AS "open variable", SUM(indep_read_count) AS "independent read",
        SUM(coll_read_count) AS "collective read", SUM(nb_read_count) AS "non-blocking read",
        SUM(indep_write_count) AS "independent write", SUM(coll_write_count) AS "collective write",
        SUM(nb_write_count) AS "non-blocking write"
    FROM core.pnetcdf_variable
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT
        'pnetcdf' AS layer, cluster, night, log_id, SUM(open_count::HUGEINT + create_count) AS "open", SUM(sync_count) AS "sync",
        SUM(redef_count) AS "redefine", SUM(indep_wait_count) AS "independent wait", SUM(coll_wait_count) AS "collective wait"
    FROM core.pnetcdf_file
    GROUP BY ALL
)
-- What a version of Darshan does not count has no row.
SELECT log_id, layer, call_kind, TRY_CAST(call_count AS BIGINT) AS call_count, night, cluster
FROM (UNPIVOT counted ON COLUMNS(* EXCLUDE (layer, cluster, night, log_id)) INTO NAME call_kind VALUE call_count)
