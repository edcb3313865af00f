-- ---
-- about = "How evenly the ranks of one log shared its I/O: stragglers, bytes by rank, what rank 0 did for all."
-- grain = ["log_id"]
-- reads = [
--     "core.log", "core.unsound_module", "core.rank_io", "core.rank_time", "core.posix_file", "core.mpiio_file", "core.stdio_file",
--     "core.delayed_rank", "core.slow_host", "core.log_fabric",
-- ]
-- ---
-- Bytes are compared as the program asked for them (layer all), so that aggregators of collective buffering, which move
-- bytes for others, are no imbalance. Time is compared in POSIX and in stdio, where a slow path to storage shows, each by itself.
WITH lowest AS (
    SELECT cluster, night, log_id, file_id, 'posix' AS layer, read_seconds, write_seconds
    FROM core.posix_file
    UNION ALL
    SELECT cluster, night, log_id, file_id, 'stdio' AS layer, read_seconds, write_seconds
    FROM core.stdio_file
),
unsound AS (
    SELECT DISTINCT cluster, night, log_id
    FROM core.unsound_module
    WHERE module IN ('POSIX', 'STDIO', 'MPI-IO')
),
called_seconds AS (
    SELECT cluster, night, log_id, SUM(read_seconds) AS log_read_seconds, SUM(write_seconds) AS log_write_seconds
    FROM (
        SELECT cluster, night, log_id, read_seconds, write_seconds
        FROM core.mpiio_file
        UNION ALL
        SELECT cluster, night, log_id, read_seconds, write_seconds
        FROM lowest
        ANTI JOIN core.mpiio_file USING (cluster, night, log_id, file_id)
    )
    GROUP BY ALL
),
asked AS (
    SELECT
        *,
        -- Up to a tenth of the log's bytes may lack a rank; if that is all of one direction, the direction is not known.
        COALESCE(read_bytes, 0)::HUGEINT + COALESCE(write_bytes, 0) AS moved_bytes,
        row_number() OVER (PARTITION BY cluster, night, log_id ORDER BY moved_bytes) AS place,
        SUM(moved_bytes) OVER (PARTITION BY cluster, night, log_id) AS log_bytes
    FROM core.rank_io
    LEFT JOIN (SELECT *, TRUE AS is_unsound FROM unsound) AS unsound USING (cluster, night, log_id)
    -- Of records that are not all there, ranks without one did not do less.
    WHERE layer = 'all' AND NOT (evidence = 'records' AND COALESCE(is_unsound, FALSE))
),
shares AS (
    SELECT
        cluster, night, log_id,
        any_value(nprocs) AS nprocs, any_value(run_seconds) AS longest_seconds,
        MAX(evidence) AS rank_evidence,
        any_value(nprocs) - COUNT(*) FILTER (moved_bytes > 0) AS idle_rank_count,
        arg_max(rank, moved_bytes ORDER BY rank) AS heaviest_rank,
        MAX(moved_bytes) AS heaviest_rank_bytes,
        SUM((asked.read_seconds + asked.write_seconds) * heavy_bytes / NULLIF(moved_bytes, 0)) AS beyond_core_seconds,
        SUM(heavy_bytes) AS beyond_bytes,
        SUM(moved_bytes)::DOUBLE AS moved_bytes, SUM(read_bytes)::DOUBLE AS read_bytes, SUM(write_bytes)::DOUBLE AS write_bytes,
        SUM(moved_bytes::DOUBLE * moved_bytes) AS squares,
        -- Idle ranks come before all others and add nothing.
        SUM((nprocs::DOUBLE - ranks + place) * moved_bytes::DOUBLE) AS placed_bytes,
        COALESCE(SUM(asked.read_bytes) FILTER (rank = 0), 0) AS rank0_read_bytes,
        COALESCE(SUM(asked.write_bytes) FILTER (rank = 0), 0) AS rank0_write_bytes,
        SUM(asked.read_seconds) FILTER (rank = 0) AS timed_rank0_read_seconds,
        SUM(asked.write_seconds) FILTER (rank = 0) AS timed_rank0_write_seconds,
        -- While one rank did I/O, another rank did I/O for at most its own I/O time: for the rest it stood idle, at least.
        COUNT(*) = COUNT(busy_seconds) AS is_timed,
        SUM(GREATEST(rank0_read_seconds - busy_seconds, 0)) FILTER (rank <> 0) AS rank0_read_idle,
        SUM(GREATEST(rank0_write_seconds - busy_seconds, 0)) FILTER (rank <> 0) AS rank0_write_idle,
        SUM(GREATEST(rank0_read_seconds + rank0_write_seconds - busy_seconds, 0)) FILTER (rank <> 0) AS rank0_idle,
        -- For the heaviest rank itself this is 0. Ranks without any I/O stood idle for all of the time.
        any_value(nprocs) - COUNT(*) AS absent_count,
        SUM(GREATEST(heaviest_seconds - busy_seconds, 0)) + absent_count * any_value(heaviest_seconds) AS heaviest_rank_idle
    FROM (
        SELECT
            asked.*, nprocs, run_seconds, COUNT(*) OVER log AS ranks,
            GREATEST(moved_bytes - log_bytes / nprocs, 0) AS heavy_bytes,
            read_seconds + write_seconds + COALESCE(meta_seconds, 0) AS busy_seconds,
            MAX(read_seconds) FILTER (rank = 0) OVER log AS rank0_read_seconds,
            MAX(write_seconds) FILTER (rank = 0) OVER log AS rank0_write_seconds,
            first_value(read_seconds + write_seconds) OVER (log ORDER BY moved_bytes DESC, rank) AS heaviest_seconds
        FROM asked
        JOIN (SELECT cluster, night, log_id, nprocs, run_seconds FROM core.log WHERE nprocs > 1) AS log USING (cluster, night, log_id)
        WINDOW log AS (PARTITION BY cluster, night, log_id)
    ) AS asked
    GROUP BY ALL
),
-- Where times of ranks are not known, each byte takes its part of the time of all. No rank takes longer than the run.
costs AS (
    SELECT
        cluster, night, log_id,
        COALESCE(
            beyond_core_seconds, (COALESCE(log_read_seconds, 0) + COALESCE(log_write_seconds, 0)) * beyond_bytes / NULLIF(moved_bytes, 0)
        ) AS imbalance_core_seconds,
        log_read_seconds * rank0_read_bytes / NULLIF(read_bytes, 0) AS spread_read_seconds,
        log_write_seconds * rank0_write_bytes / NULLIF(write_bytes, 0) AS spread_write_seconds,
        LEAST(COALESCE(longest_seconds / NULLIF(COALESCE(spread_read_seconds, 0) + COALESCE(spread_write_seconds, 0), 0), 1), 1) AS run_share,
        COALESCE(timed_rank0_read_seconds, spread_read_seconds * run_share) AS rank0_read_core_seconds,
        COALESCE(timed_rank0_write_seconds, spread_write_seconds * run_share) AS rank0_write_core_seconds
    FROM shares
    LEFT JOIN called_seconds USING (cluster, night, log_id)
),
-- A tenth of the time, and no more, may be of layers in which that of ranks is not known, as in `rank_io`.
untimed AS (
    SELECT cluster, night, log_id
    FROM (
        SELECT cluster, night, log_id, layer, SUM(read_seconds + write_seconds) AS seconds
        FROM lowest
        GROUP BY ALL
    )
    LEFT JOIN (SELECT DISTINCT cluster, night, log_id, layer, TRUE AS is_timed FROM core.rank_time) USING (cluster, night, log_id, layer)
    GROUP BY ALL
    HAVING SUM(seconds) FILTER (is_timed IS NULL) > 0.1 * SUM(seconds)
),
stragglers AS (
    SELECT
        cluster, night, log_id,
        MAX(evidence) AS straggler_evidence,
        COUNT(DISTINCT rank) FILTER (is_slow_rank) AS found_count,
        CASE WHEN found_count > 0 OR NOT bool_or(untimed.log_id IS NOT NULL) THEN found_count END AS straggler_count,
        arg_max(rank, rank_slowdown_ratio ORDER BY rank) FILTER (is_slow_rank) AS straggler_rank,
        arg_max(host, rank_slowdown_ratio ORDER BY rank) FILTER (is_slow_rank) AS straggler_host,
        MAX(rank_slowdown_ratio) AS straggler_slowdown_ratio,
        MAX(rank_seconds - median_rank_seconds) FILTER (is_slow_rank) AS straggler_wait_seconds,
        SUM(rank_seconds - median_rank_seconds) FILTER (is_slow_rank) AS straggler_core_seconds,
        -- Ranks that took longer than the median rank waited less for the slowest straggler, and stragglers themselves are its cost.
        SUM(GREATEST(LEAST(slowest_seconds - median_rank_seconds, slowest_seconds - rank_seconds), 0)) FILTER (NOT is_slow_rank) AS straggler_idle
    FROM (
        SELECT *, MAX(rank_seconds) FILTER (is_slow_rank) OVER (PARTITION BY cluster, night, log_id, layer) AS slowest_seconds
        FROM core.rank_time
        WHERE layer_rank_count >= 4
    ) AS ranks
    LEFT JOIN untimed USING (cluster, night, log_id)
    GROUP BY ALL
),
on_slow_ost AS (
    SELECT cluster, night, log_id, ost_id, SUM(rank_seconds - median_rank_seconds) AS seconds
    FROM (FROM core.rank_time WHERE is_slow_rank AND layer = 'posix')
    JOIN core.delayed_rank USING (cluster, night, log_id, rank)
    GROUP BY ALL
),
delayed AS (
    SELECT cluster, night, log_id, arg_max(ost_id, seconds ORDER BY ost_id) AS ost_id, SUM(seconds) AS seconds
    FROM on_slow_ost
    GROUP BY ALL
),
on_slow_host AS (
    SELECT cluster, night, log_id, any_value(slow.host) AS host
    FROM (FROM core.rank_time WHERE is_slow_rank) AS slow
    LEFT JOIN core.slow_host USING (cluster, night, log_id, host)
    GROUP BY ALL
    -- A single rank does not show whether it or its host is slow.
    HAVING COUNT(DISTINCT rank) > 1 AND COUNT(slow_host.host) = COUNT(*) AND COUNT(DISTINCT slow.host) = 1
)
SELECT
    log.log_id, log.cluster, log.night,
    unsound.log_id IS NULL AS is_complete,
    rank_evidence, straggler_evidence, straggler_count, straggler_rank, straggler_host, straggler_slowdown_ratio,
    CASE WHEN straggler_count = 0 THEN 0 ELSE straggler_wait_seconds / NULLIF(run_seconds, 0) END AS straggler_wait_ratio,
    straggler_core_seconds,
    -- Idle time is at most the time of all cores without the time in I/O.
    CASE WHEN idle_room >= 0 AND straggler_count > 0 THEN LEAST(COALESCE(straggler_idle, 0), idle_room) END AS straggler_idle_core_seconds,
    -- A slow OST explains stragglers if at least half of their excess time is of ranks that use it.
    CASE WHEN delayed.seconds >= 0.5 * straggler_core_seconds THEN delayed.ost_id END AS straggler_ost_id,
    delayed.seconds / NULLIF(straggler_core_seconds, 0) AS straggler_ost_ratio,
    CASE WHEN straggler_count > 0 THEN on_slow_host.host END AS straggler_slow_host,
    CASE WHEN straggler_count > 0 THEN straggler_link END AS straggler_link,
    CASE WHEN straggler_count > 0 THEN straggler_trouble END AS straggler_trouble,
    heaviest_rank, TRY_CAST(heaviest_rank_bytes AS BIGINT) AS heaviest_rank_bytes, imbalance_core_seconds, idle_rank_count,
    TRY_CAST(moved_bytes / shares.nprocs AS BIGINT) AS mean_rank_bytes,
    heaviest_rank_bytes::DOUBLE * shares.nprocs / NULLIF(moved_bytes, 0) AS bytes_max_over_mean_ratio,
    sqrt(abs(squares * shares.nprocs / NULLIF(moved_bytes * moved_bytes, 0) - 1)) AS bytes_variation_ratio,
    -- Over ordered values (Sen 1973): 2 sum(i x_i) / (n sum(x)) - (n + 1) / n.
    2 * placed_bytes / NULLIF(shares.nprocs * moved_bytes, 0) - (shares.nprocs::DOUBLE + 1) / shares.nprocs AS bytes_gini_ratio,
    TRY_CAST(rank0_read_bytes AS BIGINT) AS rank0_read_bytes,
    TRY_CAST(rank0_write_bytes AS BIGINT) AS rank0_write_bytes,
    TRY_CAST(rank0_read_bytes + rank0_write_bytes AS BIGINT) AS rank0_bytes,
    CASE WHEN shares.nprocs >= 4 THEN rank0_read_bytes / NULLIF(shares.read_bytes, 0) END AS rank0_read_ratio,
    CASE WHEN shares.nprocs >= 4 THEN rank0_write_bytes / NULLIF(shares.write_bytes, 0) END AS rank0_write_ratio,
    CASE WHEN shares.nprocs >= 4 THEN
        (rank0_read_bytes + rank0_write_bytes) / NULLIF(moved_bytes, 0)
    END AS rank0_ratio,
    rank0_read_core_seconds, rank0_write_core_seconds,
    rank0_read_core_seconds + rank0_write_core_seconds AS rank0_core_seconds,
    CASE WHEN is_timed AND idle_room >= 0 AND rank0_read_core_seconds IS NOT NULL THEN
        LEAST(COALESCE(rank0_read_idle, 0) + absent_count * rank0_read_core_seconds, idle_room)
    END AS rank0_read_idle_core_seconds,
    CASE WHEN is_timed AND idle_room >= 0 AND rank0_write_core_seconds IS NOT NULL THEN
        LEAST(COALESCE(rank0_write_idle, 0) + absent_count * rank0_write_core_seconds, idle_room)
    END AS rank0_write_idle_core_seconds,
    CASE WHEN is_timed AND idle_room >= 0 AND rank0_core_seconds IS NOT NULL THEN
        LEAST(COALESCE(rank0_idle, 0) + absent_count * rank0_core_seconds, idle_room)
    END AS rank0_idle_core_seconds,
    CASE WHEN is_timed AND idle_room >= 0 THEN LEAST(heaviest_rank_idle, idle_room) END AS heaviest_rank_idle_core_seconds
FROM (
    SELECT
        cluster, night, log_id, run_seconds,
        CASE WHEN run_seconds * nprocs >= 0 THEN GREATEST(run_seconds * nprocs - COALESCE(io_core_seconds, 0), 0) END AS idle_room
    FROM core.log
) AS log
LEFT JOIN shares USING (cluster, night, log_id)
LEFT JOIN costs USING (cluster, night, log_id)
LEFT JOIN stragglers USING (cluster, night, log_id)
LEFT JOIN delayed USING (cluster, night, log_id)
LEFT JOIN on_slow_host USING (cluster, night, log_id)
LEFT JOIN (SELECT cluster, night, log_id, straggler_link, straggler_trouble FROM core.log_fabric) AS fabric USING (cluster, night, log_id)
LEFT JOIN unsound USING (cluster, night, log_id)
