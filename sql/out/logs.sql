-- ---
-- about = "The logs: who ran what, when, on how many processes, and how much I/O it did."
-- grain = ["log_id"]
-- reads = ["core.log"]
-- ---
SELECT
    log_id, cluster, job_id, uid, "user", exe, app, application, nprocs, start_at, end_at, run_seconds, darshan_version, is_partial,
    read_bytes, write_bytes, read_count, write_count, io_core_seconds, path, night,
    run_seconds * nprocs AS run_core_seconds,
    io_core_seconds / NULLIF(run_seconds * nprocs, 0) AS io_ratio,
    doubt, format_version, size_bytes, io_signature, lineage_id
FROM core.log
