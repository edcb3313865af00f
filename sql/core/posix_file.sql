-- ---
-- about = "POSIX calls of a rank, or of all ranks together, on a file."
-- grain = ["log_id", "file_id", "rank"]
-- reads = ["lake.posix_file", "core.special_file"]
-- ---
SELECT
    -- Counters of a hostile log may add up to more than 64 bits: then the sum is NULL, and other logs keep theirs.
    cluster, night, log_id, file_id, rank, renamed_from_id, mode, fastest_rank, slowest_rank,
    rank_seconds_variance, rank_bytes_variance, rank = -1 AS is_shared,
    TRY_CAST(
        read_size_0_100_count::HUGEINT + read_size_100_1k_count + read_size_1k_10k_count
        + read_size_10k_100k_count + read_size_100k_1m_count AS BIGINT
    ) AS small_read_count,
    TRY_CAST(
        write_size_0_100_count::HUGEINT + write_size_100_1k_count + write_size_1k_10k_count
        + write_size_10k_100k_count + write_size_100k_1m_count AS BIGINT
    ) AS small_write_count,
    -- Logs of older Darshan hold -1 where their format had no such counter; a negative is never a measurement.
    CASE WHEN COLUMNS('_(count|bytes)$') >= 0 THEN COLUMNS('_(count|bytes)$') END AS '\0',
    -- A difference of two clock readings may round to less than 0, by no more than a microsecond: then no time passed.
    CASE WHEN COLUMNS('_seconds$') > -1e-6 THEN GREATEST(COLUMNS('_seconds$'), 0) END AS '\0'
FROM lake.posix_file
-- A pipe or a standard stream is not a file on storage, so questions about files leave it out.
LEFT JOIN core.special_file AS special USING (cluster, night, log_id, file_id)
WHERE special.special_kind IS NULL
