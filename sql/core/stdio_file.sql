-- ---
-- about = "stdio calls of a rank, or of all ranks together, on a stream."
-- grain = ["log_id", "file_id", "rank"]
-- reads = ["lake.stdio_file", "core.special_file"]
-- ---
SELECT
    cluster, night, log_id, file_id, rank, fastest_rank, slowest_rank, rank_seconds_variance,
    rank_bytes_variance, rank = -1 AS is_shared,
    -- Logs of older Darshan hold -1 where their format had no such counter; a negative is never a measurement.
    CASE WHEN COLUMNS('_(count|bytes)$') >= 0 THEN COLUMNS('_(count|bytes)$') END AS '\0',
    -- A difference of two clock readings may round to less than 0, by no more than a microsecond: then no time passed.
    CASE WHEN COLUMNS('_seconds$') > -1e-6 THEN GREATEST(COLUMNS('_seconds$'), 0) END AS '\0'
FROM lake.stdio_file
-- A pipe or a standard stream is not a file on storage, so questions about files leave it out.
LEFT JOIN core.special_file AS special USING (cluster, night, log_id, file_id)
WHERE special.special_kind IS NULL
