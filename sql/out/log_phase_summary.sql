-- ---
-- about = "The phases of one log in one layer, or (layer all) as a whole: how many, and how much of the run they take."
-- grain = ["log_id", "layer"]
-- reads = ["core.phase"]
-- ---
WITH alone AS (
    SELECT
        *,
        -- Phases of reads and of writes may overlap: what a phase lasts beyond the end of those before it.
        GREATEST(end_seconds - GREATEST(start_seconds, COALESCE(MAX(end_seconds) OVER earlier, start_seconds)), 0) AS alone_seconds
    FROM core.phase
    WINDOW earlier AS (
        PARTITION BY cluster, night, log_id, layer
        ORDER BY start_seconds, phase
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
),
per_layer AS (
    SELECT
        cluster, night, log_id, layer, MAX(evidence) AS evidence,
        COUNT(*) AS io_phase_count,
        COUNT(*) FILTER (read_bytes > 0) AS read_phase_count,
        COUNT(*) FILTER (write_bytes > 0) AS write_phase_count,
        MAX(bursts_per_rank) FILTER (op = 'read') AS read_bursts_per_rank,
        MAX(bursts_per_rank) FILTER (op = 'write') AS write_bursts_per_rank,
        COUNT(*) FILTER (straggler_count > 0) AS phase_straggler_count,
        SUM(alone_seconds) AS phase_seconds,
        MAX(end_seconds - start_seconds) AS longest_phase_seconds,
        SUM(run_ratio * COALESCE(alone_seconds / NULLIF(end_seconds - start_seconds, 0), 1)) AS phases_ratio
    FROM alone
    GROUP BY ALL
)
SELECT
    log_id, layer, evidence, io_phase_count, read_phase_count, write_phase_count,
    TRY_CAST(COALESCE(read_bursts_per_rank, 0)::HUGEINT + COALESCE(write_bursts_per_rank, 0) AS BIGINT) AS bursts_per_rank,
    read_bursts_per_rank, write_bursts_per_rank, phase_straggler_count, phase_seconds, longest_phase_seconds, phases_ratio,
    longest_phase_seconds / NULLIF(phase_seconds, 0) AS longest_phase_ratio,
    night, cluster
FROM per_layer
