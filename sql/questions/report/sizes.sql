-- ---
-- about = "How many requests of each size there were in a layer, and in POSIX how many followed the one before."
-- parts = []
-- reads = ["core.posix_file", "core.mpiio_file", "core.dfs_file", "core.daos_object", "core.h5d_dataset", "core.pnetcdf_variable"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT
    log_id, 'posix' AS layer, SUM(COLUMNS('^(read|write)_size_.*_count$'))::DOUBLE AS '\0',
    -- If some files are not known, the sum of all is not known.
    CASE WHEN bool_and(COLUMNS('^(consecutive|sequential)_(read|write)_count$') IS NOT NULL)
        THEN SUM(COLUMNS('^(consecutive|sequential)_(read|write)_count$')) END::DOUBLE AS '\0'
FROM core.posix_file
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
GROUP BY log_id
UNION ALL BY NAME
SELECT log_id, 'mpiio' AS layer, SUM(COLUMNS('^(read|write)_size_.*_count$'))::DOUBLE AS '\0'
FROM core.mpiio_file
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
GROUP BY log_id
UNION ALL BY NAME
SELECT log_id, 'dfs' AS layer, SUM(COLUMNS('^(read|write)_size_.*_count$'))::DOUBLE AS '\0'
FROM core.dfs_file
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
GROUP BY log_id
UNION ALL BY NAME
SELECT log_id, 'daos' AS layer, SUM(COLUMNS('^(read|write)_size_.*_count$'))::DOUBLE AS '\0'
FROM core.daos_object
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
GROUP BY log_id
UNION ALL BY NAME
SELECT log_id, 'hdf5' AS layer, SUM(COLUMNS('^(read|write)_size_.*_count$'))::DOUBLE AS '\0'
FROM core.h5d_dataset
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
GROUP BY log_id
UNION ALL BY NAME
SELECT log_id, 'pnetcdf' AS layer, SUM(COLUMNS('^(read|write)_size_.*_count$'))::DOUBLE AS '\0'
FROM core.pnetcdf_variable
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
GROUP BY log_id
