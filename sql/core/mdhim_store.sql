-- ---
-- about = "Calls of a rank, or of all ranks together, on an MDHIM store."
-- grain = ["log_id", "file_id", "rank"]
-- reads = ["lake.mdhim_store"]
-- ---
SELECT
    cluster, night, log_id, file_id, rank, server_histogram, rank = -1 AS is_shared,
    -- Logs of older Darshan hold -1 where their format had no such counter; a negative is never a measurement.
    CASE WHEN COLUMNS('_(count|bytes|seconds)$') >= 0 THEN COLUMNS('_(count|bytes|seconds)$') END AS '\0'
FROM lake.mdhim_store
