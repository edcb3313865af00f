-- ---
-- about = "How evenly the ranks of one log shared its I/O: stragglers, bytes by rank, what rank 0 did for all."
-- grain = ["log_id"]
-- reads = ["core.log", "core.module", "core.rank_io"]
-- ---
-- Bytes are compared as the program asked for them (layer all), so that aggregators of collective buffering, which move
-- bytes for others, are no imbalance. Time is compared in POSIX, where a slow path to storage shows.
WITH asked AS (
    SELECT
        *,
        -- What ranks have is known but for a tenth of the log; where that is all of one direction, it is not known.
        COALESCE(read_bytes, 0) + COALESCE(write_bytes, 0) AS moved_bytes,
        row_number() OVER (PARTITION BY cluster, night, log_id ORDER BY moved_bytes) AS place
    FROM core.rank_io
    WHERE layer = 'all'
),
shares AS (
    SELECT
        cluster, night, log_id,
        any_value(nprocs) AS nprocs,
        MAX(evidence) AS rank_evidence,
        any_value(nprocs) - COUNT(*) FILTER (moved_bytes > 0) AS idle_rank_count,
        arg_max(rank, (moved_bytes, rank)) AS heaviest_rank,
        MAX(moved_bytes) AS heaviest_rank_bytes,
        arg_max(read_seconds + write_seconds, (moved_bytes, rank)) AS heaviest_rank_core_seconds,
        SUM(moved_bytes)::DOUBLE AS moved_bytes, SUM(read_bytes)::DOUBLE AS read_bytes, SUM(write_bytes)::DOUBLE AS write_bytes,
        SUM(moved_bytes::DOUBLE * moved_bytes) AS squares,
        -- Idle ranks come before all others and add nothing.
        SUM((nprocs - ranks + place) * moved_bytes::DOUBLE) AS placed_bytes,
        COALESCE(SUM(asked.read_bytes) FILTER (rank = 0), 0) AS rank0_read_bytes,
        COALESCE(SUM(asked.write_bytes) FILTER (rank = 0), 0) AS rank0_write_bytes,
        SUM(read_seconds) FILTER (rank = 0) AS rank0_read_core_seconds,
        SUM(write_seconds) FILTER (rank = 0) AS rank0_write_core_seconds
    FROM (SELECT *, COUNT(*) OVER (PARTITION BY cluster, night, log_id) AS ranks FROM asked) AS asked
    JOIN (SELECT cluster, night, log_id, nprocs FROM core.log WHERE nprocs > 1) AS log USING (cluster, night, log_id)
    GROUP BY ALL
),
timed AS (
    SELECT
        cluster, night, log_id, rank, host, evidence,
        read_seconds + write_seconds AS seconds,
        (read_seconds + write_seconds) / NULLIF(read_count + write_count, 0) AS seconds_per_request,
        (read_seconds + write_seconds) / NULLIF(read_bytes + write_bytes, 0) AS seconds_per_byte
    FROM core.rank_io
    WHERE layer = 'posix' AND read_seconds + write_seconds > 0
),
middle AS (
    SELECT
        cluster, night, log_id, COUNT(*) AS timed_count, MEDIAN(seconds) AS median_seconds,
        MEDIAN(seconds_per_request) AS median_per_request, MEDIAN(seconds_per_byte) AS median_per_byte,
        -- 1.4826 makes the median deviation of a normal distribution its standard deviation (Rousseeuw and Croux 1993).
        1.4826 * mad(seconds_per_request) AS deviation
    FROM timed
    GROUP BY ALL
),
outlier AS (
    SELECT
        timed.*, median_seconds,
        LEAST(seconds_per_request / median_per_request, seconds_per_byte / median_per_byte) AS slowdown,
        -- 3.5 deviations: Iglewicz and Hoaglin 1993. Half as slow again, since on a quiet machine deviations are tiny.
        slowdown > 1.5 AND seconds_per_request - median_per_request > 3.5 * deviation AS is_straggler
    FROM timed
    JOIN middle USING (cluster, night, log_id)
    -- Of three, one is not out of line with the two others, it is a third of them.
    WHERE timed_count >= 4
),
stragglers AS (
    SELECT
        cluster, night, log_id,
        MAX(evidence) AS straggler_evidence,
        COUNT(*) FILTER (is_straggler) AS straggler_count,
        arg_max(rank, slowdown) FILTER (is_straggler) AS straggler_rank,
        arg_max(host, slowdown) FILTER (is_straggler) AS straggler_host,
        MAX(slowdown) AS straggler_slowdown_ratio,
        MAX(seconds - median_seconds) FILTER (is_straggler) AS straggler_wait_seconds,
        SUM(seconds - median_seconds) FILTER (is_straggler) AS straggler_core_seconds
    FROM outlier
    GROUP BY ALL
),
unsound AS (
    SELECT DISTINCT cluster, night, log_id
    FROM core.module
    WHERE module IN ('POSIX', 'STDIO', 'MPI-IO') AND (state <> 'read' OR is_partial)
)
SELECT
    log.log_id, log.cluster, log.night,
    unsound.log_id IS NULL AS is_complete,
    rank_evidence, straggler_evidence, straggler_count, straggler_rank, straggler_host, straggler_slowdown_ratio,
    CASE WHEN straggler_count = 0 THEN 0 ELSE straggler_wait_seconds / NULLIF(run_seconds, 0) END AS straggler_wait_ratio,
    straggler_core_seconds,
    heaviest_rank, heaviest_rank_bytes, heaviest_rank_core_seconds, idle_rank_count,
    TRY_CAST(moved_bytes / shares.nprocs AS BIGINT) AS mean_rank_bytes,
    heaviest_rank_bytes * shares.nprocs / NULLIF(moved_bytes, 0) AS bytes_max_over_mean_ratio,
    sqrt(abs(squares * shares.nprocs / NULLIF(moved_bytes * moved_bytes, 0) - 1)) AS bytes_variation_ratio,
    -- Over ordered values (Sen 1973): 2 sum(i x_i) / (n sum(x)) - (n + 1) / n.
    2 * placed_bytes / NULLIF(shares.nprocs * moved_bytes, 0) - (shares.nprocs + 1) / shares.nprocs AS bytes_gini_ratio,
    TRY_CAST(rank0_read_bytes AS BIGINT) AS rank0_read_bytes,
    TRY_CAST(rank0_write_bytes AS BIGINT) AS rank0_write_bytes,
    TRY_CAST(rank0_read_bytes + rank0_write_bytes AS BIGINT) AS rank0_bytes,
    CASE WHEN shares.nprocs >= 4 THEN rank0_read_bytes / NULLIF(shares.read_bytes, 0) END AS rank0_read_ratio,
    CASE WHEN shares.nprocs >= 4 THEN rank0_write_bytes / NULLIF(shares.write_bytes, 0) END AS rank0_write_ratio,
    CASE WHEN shares.nprocs >= 4 THEN
        (rank0_read_bytes + rank0_write_bytes) / NULLIF(moved_bytes, 0)
    END AS rank0_ratio,
    rank0_read_core_seconds, rank0_write_core_seconds,
    rank0_read_core_seconds + rank0_write_core_seconds AS rank0_core_seconds
FROM (SELECT cluster, night, log_id, run_seconds FROM core.log) AS log
LEFT JOIN shares USING (cluster, night, log_id)
LEFT JOIN stragglers USING (cluster, night, log_id)
LEFT JOIN unsound USING (cluster, night, log_id)
