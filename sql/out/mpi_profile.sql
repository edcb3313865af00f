-- ---
-- about = "What a log's ranks did in each MPI call, as APMPI counts, beside its I/O time: which of the two bounds the run."
-- grain = ["log_id", "mpi_call"]
-- reads = ["core.apmpi_call", "core.apmpi_rank", "core.log"]
-- ---
-- APMPI does not count MPI-IO calls, so no time counts twice. If ranks lack a record, the sum over the run is not known.
WITH called AS (
    SELECT
        cluster, night, log_id, mpi_call,
        CASE WHEN MIN(call_count) >= 0 THEN TRY_CAST(SUM(call_count) AS BIGINT) END AS call_count,
        CASE WHEN MIN(total_bytes) >= 0 THEN TRY_CAST(SUM(total_bytes) AS BIGINT) END AS total_bytes,
        list_sum(list_sort(list(total_seconds) FILTER (isfinite(total_seconds) AND total_seconds >= 0))) AS call_core_seconds,
        list_sum(list_sort(list(sync_seconds) FILTER (isfinite(sync_seconds) AND sync_seconds >= 0))) AS call_wait_core_seconds,
        MAX(max_seconds) FILTER (isfinite(max_seconds) AND max_seconds >= 0) AS max_seconds
    FROM core.apmpi_call
    GROUP BY ALL
),
ranked AS (
    SELECT
        cluster, night, log_id, COUNT(DISTINCT rank) AS rank_count,
        list_sum(list_sort(list(comm_seconds) FILTER (isfinite(comm_seconds) AND comm_seconds >= 0))) AS all_core_seconds,
        list_sum(list_sort(list(comm_sync_seconds) FILTER (isfinite(comm_sync_seconds) AND comm_sync_seconds >= 0)))
            AS all_wait_core_seconds
    FROM core.apmpi_rank
    GROUP BY ALL
),
whole AS (
    SELECT
        cluster, night, log_id, job_id, "user", app, nprocs, run_seconds, io_core_seconds,
        CASE WHEN rank_count >= nprocs THEN all_core_seconds END AS mpi_core_seconds,
        CASE WHEN rank_count >= nprocs THEN all_wait_core_seconds END AS mpi_wait_core_seconds,
        mpi_core_seconds / NULLIF(run_seconds * nprocs, 0) AS mpi_ratio,
        io_core_seconds / NULLIF(run_seconds * nprocs, 0) AS run_io_ratio
    FROM ranked
    JOIN core.log USING (cluster, night, log_id)
)
SELECT
    log_id, job_id, "user", app, nprocs, mpi_call, call_count, total_bytes, call_core_seconds, call_wait_core_seconds,
    max_seconds, mpi_core_seconds, mpi_wait_core_seconds, io_core_seconds, mpi_ratio,
    mpi_wait_core_seconds / NULLIF(mpi_core_seconds, 0) AS mpi_wait_ratio, run_io_ratio,
    CASE
        WHEN mpi_ratio IS NULL OR run_io_ratio IS NULL THEN NULL
        WHEN GREATEST(mpi_ratio, run_io_ratio) < 0.25 THEN 'neither'
        WHEN mpi_ratio > run_io_ratio THEN 'mpi'
        ELSE 'io'
    END AS bound_by,
    night, cluster
FROM called
JOIN whole USING (cluster, night, log_id)
ORDER BY night, log_id, call_core_seconds DESC, mpi_call
