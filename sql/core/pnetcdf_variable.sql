-- ---
-- about = "PnetCDF transfers of a rank, or of all ranks together, on a variable."
-- grain = ["log_id", "file_id", "rank"]
-- reads = ["lake.pnetcdf_variable"]
-- ---
SELECT
    cluster, night, log_id, file_id, rank, NULLIF(parent_file_id, 0) AS parent_file_id, is_record_variable, fastest_rank, slowest_rank,
    rank_seconds_variance, rank_bytes_variance, rank = -1 AS is_shared,
    -- Logs of older Darshan hold -1 where their format had no such counter; a negative is never a measurement.
    CASE WHEN COLUMNS('_(count|bytes)$') >= 0 THEN COLUMNS('_(count|bytes)$') END AS '\0',
    -- A difference of two clock readings may round to less than 0, by no more than a microsecond: then no time passed.
    CASE WHEN COLUMNS('_seconds$') > -1e-6 THEN GREATEST(COLUMNS('_seconds$'), 0) END AS '\0'
FROM lake.pnetcdf_variable
