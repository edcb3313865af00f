-- ---
-- about = "The logs: who ran what, when, on how many processes, and how much I/O it did."
-- grain = ["log_id"]
-- reads = ["core.log", "core.owner_doubt"]
-- ---
SELECT
    log_id, cluster, job_id, uid, "user", exe, app, application, nprocs, start_at, end_at, run_seconds, darshan_version, is_partial,
    read_bytes, write_bytes, read_count, write_count, io_core_seconds, path, night,
    run_seconds * nprocs AS run_core_seconds,
    -- Where the header is not to be trusted, I/O time was not held against the run.
    CASE WHEN io_core_seconds <= run_core_seconds THEN io_core_seconds / NULLIF(run_core_seconds, 0) END AS io_ratio,
    storage_core_seconds, waiting_core_seconds, special_core_seconds, slowest_rank, slowest_rank_io_seconds, is_overlapping,
    doubt, format_version, CASE WHEN format_version SIMILAR TO '\d.*' THEN 'darshan ' || format_version ELSE format_version END AS source_format,
    size_bytes, io_signature, lineage_id, owner_uid,
    CASE
        WHEN owner_doubt.log_id IS NOT NULL THEN false
        -- Without a login name, or with one that no host knew, it is not known whose mail address it is.
        WHEN owner_uid = uid AND COALESCE(archive_uid = uid, true) AND ("user" IS NULL OR name_uid = uid) THEN true
    END AS is_owner_confirmed
FROM core.log
LEFT JOIN core.owner_doubt AS owner_doubt USING (cluster, night, log_id)
