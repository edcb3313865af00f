-- ---
-- about = "MPI-IO calls of a rank, or of all ranks together, on a file that several ranks share, with the time of the independent ones."
-- grain = ["log_id", "file_id", "rank"]
-- reads = ["core.log", "core.mpiio_file"]
-- ---
-- Collective calls are for files that ranks share; a file of one rank is not shared.
SELECT
    log_id, file_id, rank, indep_read_count, indep_write_count,
    TRY_CAST(indep_read_count::HUGEINT + coll_read_count + split_read_count AS BIGINT) AS read_count,
    TRY_CAST(indep_write_count::HUGEINT + coll_write_count + split_write_count AS BIGINT) AS write_count,
    read_seconds * indep_read_count / NULLIF(indep_read_count::HUGEINT + coll_read_count + split_read_count, 0) AS indep_read_seconds,
    write_seconds * indep_write_count / NULLIF(indep_write_count::HUGEINT + coll_write_count + split_write_count, 0)
        AS indep_write_seconds,
    read_seconds, write_seconds, read_seconds + write_seconds + meta_seconds AS io_core_seconds, night, cluster
FROM core.mpiio_file
JOIN (SELECT cluster, night, log_id, nprocs FROM core.log) AS log USING (cluster, night, log_id)
WHERE nprocs > 1
QUALIFY is_shared OR COUNT(*) OVER (PARTITION BY cluster, night, log_id, file_id) > 1
