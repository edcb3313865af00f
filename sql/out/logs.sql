-- ---
-- about = "The logs: who ran what, when, on how many processes, and how much I/O it did."
-- grain = ["log_id"]
-- reads = ["core.log"]
-- ---
SELECT
    log_id, cluster, job_id, uid, "user", exe, app, application, nprocs, start_at, end_at, run_seconds, darshan_version, is_partial,
    read_bytes, write_bytes, read_count, write_count, io_core_seconds, path, night,
    run_seconds * nprocs AS run_core_seconds,
    -- Where the header is not to be trusted, I/O time was not held against the run.
    CASE WHEN io_core_seconds <= run_core_seconds THEN io_core_seconds / NULLIF(run_core_seconds, 0) END AS io_ratio,
    storage_core_seconds, waiting_core_seconds, special_core_seconds, slowest_rank, slowest_rank_io_seconds, is_overlapping,
    doubt, format_version, size_bytes, io_signature, lineage_id
FROM core.log
