-- ---
-- about = "HDF5 file calls of a rank, or of all ranks together, on a file."
-- grain = ["log_id", "file_id", "rank"]
-- reads = ["lake.h5f_file"]
-- ---
SELECT
    cluster, night, log_id, file_id, rank, rank = -1 AS is_shared,
    CASE WHEN use_mpiio >= 0 THEN use_mpiio END AS use_mpiio,
    -- Logs of older Darshan hold -1 where their format had no such counter; a negative is never a measurement.
    CASE WHEN COLUMNS('_(count|bytes)$') >= 0 THEN COLUMNS('_(count|bytes)$') END AS '\0',
    -- A difference of two clock readings may round to less than 0, by no more than a microsecond: then no time passed.
    CASE WHEN COLUMNS('_seconds$') > -1e-6 THEN GREATEST(COLUMNS('_seconds$'), 0) END AS '\0'
FROM lake.h5f_file
