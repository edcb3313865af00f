-- ---
-- about = "Calls of a rank, or of all ranks together, on an MDHIM store."
-- grain = ["log_id", "file_id", "rank"]
-- reads = ["lake.mdhim_store"]
-- ---
SELECT
    cluster, night, log_id, file_id, rank, server_histogram, rank = -1 AS is_shared,
    -- Logs of older Darshan hold -1 where their format had no such counter; a negative is never a measurement.
    CASE WHEN COLUMNS('_(count|bytes)$') >= 0 THEN COLUMNS('_(count|bytes)$') END AS '\0',
    -- A difference of two clock readings may round to less than 0, by no more than a microsecond: then no time passed.
    CASE WHEN COLUMNS('_seconds$') > -1e-6 THEN GREATEST(COLUMNS('_seconds$'), 0) END AS '\0'
FROM lake.mdhim_store
