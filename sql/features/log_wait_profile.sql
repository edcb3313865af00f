-- ---
-- about = "How long the ranks of one log waited for each other within MPI-IO, and for whom."
-- grain = ["log_id"]
-- reads = ["core.log", "core.unsound_module", "core.mpiio_file", "core.rank_io", "core.file_name", "core.waited_file"]
-- ---
WITH per_log AS (
    SELECT
        cluster, night, log_id, SUM(mpiio_seconds ORDER BY file_id) AS mpiio_seconds,
        SUM(late_seconds ORDER BY file_id) AS late_core_seconds, MAX(rank_count) AS rank_count,
        arg_max(file_id, late_seconds ORDER BY file_id) AS file_id
    FROM core.waited_file
    GROUP BY ALL
),
-- Ranks wait for each other only in collective calls; a rank that makes none is not late.
collective AS (
    SELECT cluster, night, log_id
    FROM core.waited_file
    GROUP BY ALL
    HAVING SUM(collective_excess_seconds ORDER BY file_id) > 0
),
-- The rank that comes last waits least.
per_rank AS (
    SELECT
        cluster, night, log_id, any_value(evidence) AS late_rank_evidence,
        arg_min(rank, read_seconds + write_seconds ORDER BY rank) AS last_rank,
        MIN(read_seconds + write_seconds) AS last_seconds, MEDIAN(read_seconds + write_seconds) AS median_seconds
    FROM core.rank_io
    SEMI JOIN collective USING (cluster, night, log_id)
    WHERE layer = 'mpiio'
    GROUP BY ALL
    HAVING COUNT(read_seconds + write_seconds) > 1
),
shared AS (
    SELECT
        cluster, night, log_id, file_id, 'records' AS late_rank_evidence, fastest_rank AS last_rank,
        fastest_rank_seconds AS last_seconds, read_seconds + write_seconds + meta_seconds AS seconds
    FROM core.mpiio_file
    SEMI JOIN collective USING (cluster, night, log_id)
    -- Without times of its ranks, a shared record keeps the fastest and the sum.
    WHERE is_shared AND slowest_rank_seconds > 0 AND fastest_rank >= 0
),
unsound AS (
    SELECT cluster, night, log_id, bool_or(module = 'POSIX') AS lacks_posix
    FROM core.unsound_module
    WHERE module IN ('POSIX', 'MPI-IO')
    GROUP BY ALL
),
waited AS (
    SELECT
        log.*, per_log.* EXCLUDE (cluster, night, log_id),
        COALESCE(per_rank.late_rank_evidence, shared.late_rank_evidence) AS late_rank_evidence,
        CASE WHEN per_rank.log_id IS NOT NULL THEN last_seconds_of_rank < median_seconds / 2
            ELSE shared.last_seconds < shared.seconds / nprocs / 2
        END AS is_one,
        COALESCE(per_rank.last_rank, shared.last_rank) AS last_rank, collective.log_id IS NOT NULL AS is_collective
    FROM (SELECT cluster, night, log_id, nprocs, run_seconds FROM core.log WHERE nprocs > 1) AS log
    JOIN per_log USING (cluster, night, log_id)
    LEFT JOIN (SELECT * EXCLUDE (last_seconds), last_seconds AS last_seconds_of_rank FROM per_rank) AS per_rank
        USING (cluster, night, log_id)
    LEFT JOIN shared USING (cluster, night, log_id, file_id)
    LEFT JOIN collective USING (cluster, night, log_id)
    -- A rank that seems to wait may have been busy in POSIX calls whose records are missing.
    ANTI JOIN (FROM unsound WHERE lacks_posix) USING (cluster, night, log_id)
)
SELECT
    log.log_id, log.cluster, log.night,
    unsound.log_id IS NULL AS is_complete,
    late_core_seconds, late_core_seconds / NULLIF(mpiio_seconds, 0) AS late_seconds_ratio,
    late_core_seconds / NULLIF(run_seconds * nprocs, 0) AS late_run_ratio,
    CASE WHEN is_one THEN last_rank END AS late_rank,
    CASE
        WHEN is_one THEN 'rank ' || last_rank
        WHEN NOT is_one THEN 'different ranks'
        WHEN is_collective THEN 'ranks that the log does not name'
    END AS waited_for,
    late_rank_evidence, file_name.path AS late_path
FROM (SELECT cluster, night, log_id FROM core.log) AS log
LEFT JOIN waited USING (cluster, night, log_id)
LEFT JOIN core.file_name AS file_name USING (cluster, night, log_id, file_id)
LEFT JOIN unsound USING (cluster, night, log_id)
