-- ---
-- about = "Time of ranks in MPI-IO on a file that the POSIX calls beneath do not explain: they waited for each other, or sent data."
-- grain = ["log_id", "file_id"]
-- reads = ["core.mpiio_file", "core.posix_file", "core.log"]
-- ---
-- In a collective call ranks wait for those who move data for all. Time beyond that of the slowest of these in
-- POSIX is not I/O of any rank: a rank came late, or data were on their way between ranks.
WITH mpiio AS (
    SELECT
        cluster, night, log_id, file_id, bool_or(is_shared) AS has_shared_record, COUNT(DISTINCT rank) AS own_count,
        -- In order, so that the last digits are the same whatever logs lie beside it.
        SUM(read_seconds + write_seconds + meta_seconds ORDER BY rank) AS mpiio_seconds,
        SUM(excess_seconds ORDER BY rank) AS collective_excess_seconds
    FROM (
        SELECT
            *,
            -- Time in reads is that of the kind of call that most of them are, likewise in writes: the log has no finer times. By
            -- number alone, a thousand short independent reads would hide one collective write in which all ranks wait.
            CASE
                WHEN coll_read_count::HUGEINT + split_read_count > indep_read_count::HUGEINT + nb_read_count THEN read_seconds
                ELSE -read_seconds
            END + CASE
                WHEN coll_write_count::HUGEINT + split_write_count > indep_write_count::HUGEINT + nb_write_count THEN write_seconds
                ELSE -write_seconds
            END AS excess_seconds
        FROM core.mpiio_file
    )
    GROUP BY ALL
),
posix AS (
    SELECT
        cluster, night, log_id, file_id,
        SUM(read_seconds + write_seconds + meta_seconds ORDER BY rank) AS posix_seconds,
        MAX(CASE WHEN is_shared THEN slowest_rank_seconds ELSE read_seconds + write_seconds + meta_seconds END)
            AS slowest_rank_seconds
    FROM core.posix_file
    -- Not a SEMI JOIN with a subquery that is read here anyway: DuckDB would compute all nights, whichever is asked for.
    JOIN (SELECT DISTINCT cluster, night, log_id, file_id FROM core.mpiio_file) AS called USING (cluster, night, log_id, file_id)
    GROUP BY ALL
),
beneath AS (
    SELECT
        mpiio.*, posix_seconds, slowest_rank_seconds,
        CASE WHEN has_shared_record THEN nprocs ELSE own_count END AS rank_count
    FROM mpiio
    JOIN (SELECT cluster, night, log_id, nprocs FROM core.log) AS log USING (cluster, night, log_id)
    LEFT JOIN posix USING (cluster, night, log_id, file_id)
    WHERE mpiio_seconds IS NOT NULL
)
SELECT
    log_id, file_id, rank_count, mpiio_seconds, posix_seconds,
    GREATEST(mpiio_seconds - COALESCE(posix_seconds, 0), 0) AS waiting_seconds,
    -- Files that POSIX did not see went another way, and the time of that I/O is not known.
    CASE
        WHEN rank_count = 1 THEN 0
        WHEN posix_seconds IS NOT NULL
            THEN GREATEST(mpiio_seconds - GREATEST(posix_seconds, rank_count * slowest_rank_seconds), 0)
    END AS late_seconds,
    collective_excess_seconds,
    CASE WHEN collective_excess_seconds > 0 THEN waiting_seconds - late_seconds ELSE 0 END AS held_seconds,
    night, cluster
FROM beneath
