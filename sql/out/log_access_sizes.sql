-- ---
-- about = "The commonest lengths of requests in a layer, reads and writes together: the sum of what Darshan keeps of each record, its four commonest."
-- grain = ["log_id", "layer", "length_bytes"]
-- reads = [
--     "core.posix_file", "core.mpiio_file", "core.dfs_file", "core.daos_object", "core.h5d_dataset", "core.pnetcdf_variable",
-- ]
-- ---
WITH record AS (
    SELECT
        'posix' AS layer, cluster, night, log_id, access1_bytes, access2_bytes, access3_bytes, access4_bytes, access1_count,
        access2_count, access3_count, access4_count
    FROM core.posix_file
    UNION ALL
    SELECT
        'mpiio' AS layer, cluster, night, log_id, access1_bytes, access2_bytes, access3_bytes, access4_bytes, access1_count,
        access2_count, access3_count, access4_count
    FROM core.mpiio_file
    UNION ALL
    SELECT
        'dfs' AS layer, cluster, night, log_id, access1_bytes, access2_bytes, access3_bytes, access4_bytes, access1_count,
        access2_count, access3_count, access4_count
    FROM core.dfs_file
    UNION ALL
    SELECT
        'daos' AS layer, cluster, night, log_id, access1_bytes, access2_bytes, access3_bytes, access4_bytes, access1_count,
        access2_count, access3_count, access4_count
    FROM core.daos_object
    UNION ALL
    SELECT
        'hdf5' AS layer, cluster, night, log_id, access1_bytes, access2_bytes, access3_bytes, access4_bytes, access1_count,
        access2_count, access3_count, access4_count
    FROM core.h5d_dataset
    UNION ALL
    SELECT
        'pnetcdf' AS layer, cluster, night, log_id, access1_bytes, access2_bytes, access3_bytes, access4_bytes, access1_count,
        access2_count, access3_count, access4_count
    FROM core.pnetcdf_variable
),
access AS (
    SELECT
        layer, cluster, night, log_id, unnest([access1_bytes, access2_bytes, access3_bytes, access4_bytes]) AS length_bytes,
        unnest([access1_count, access2_count, access3_count, access4_count]) AS request_count
    FROM record
)
SELECT log_id, layer, length_bytes, TRY_CAST(SUM(request_count) AS BIGINT) AS request_count, night, cluster
FROM access
WHERE request_count > 0
GROUP BY layer, cluster, night, log_id, length_bytes
