-- ---
-- about = "Bytes by cells of time and of neighbouring ranks, 200 times 64 at most: of heat maps, or of the trace where there are none."
-- parts = []
-- reads = ["core.log", "core.heatmap_rank", "core.rank_detail", "core.segment"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
WITH wanted AS (
    SELECT log_id, nprocs, run_seconds
    FROM core.log
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
        AND nprocs > 0
),
lane AS (
    SELECT log_id, rank, bin_seconds, bin_count, read_bins, write_bins
    FROM core.heatmap_rank
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id) AND layer IN ('posix', 'stdio', 'dfs') AND rank >= 0 AND bin_seconds > 0
        AND isfinite(bin_seconds) AND bin_count > 0
        -- Bins that are no bytes.
        AND NOT coalesce(least(list_min(read_bins), list_min(write_bins)) < 0, FALSE)
        AND NOT coalesce(greatest(list_max(read_bins), list_max(write_bins)) > 1152921504606846976, FALSE)
),
scale AS (
    SELECT
        log_id, nprocs, least(nprocs, 64) AS grid_rows, max(bin_seconds) AS step_seconds,
        greatest(1, least(max(bin_count), ceil(any_value(run_seconds) / step_seconds), 1e15))::BIGINT AS step_count,
        least(step_count, 200) AS grid_columns, step_seconds * step_count AS shown_seconds, 'heatmap' AS source
    FROM lane JOIN wanted USING (log_id)
    GROUP BY log_id, nprocs
),
binned AS (
    SELECT
        log_id, source, shown_seconds, grid_rows, grid_columns, least(rank::HUGEINT * grid_rows // nprocs, grid_rows - 1)::BIGINT AS grid_row,
        bin_seconds * grid_columns / shown_seconds AS columns_per_bin, generate_subscripts(read_bins, 1) - 0.5 AS middle,
        unnest(read_bins) AS read_bytes, unnest(write_bins) AS write_bytes
    FROM lane JOIN scale USING (log_id)
),
of_heatmap AS (
    SELECT
        log_id, source, shown_seconds, grid_rows, grid_columns, grid_row,
        least(floor(middle * columns_per_bin), grid_columns - 1)::BIGINT AS grid_column,
        read_bytes::DOUBLE AS read_bytes, write_bytes::DOUBLE AS write_bytes
    FROM binned
    WHERE read_bytes > 0 OR write_bytes > 0
),
coarsest AS (
    SELECT log_id, rank, op, moved_bytes, start_seconds, end_seconds
    FROM core.rank_detail
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id) AND layer = 'posix'
    QUALIFY detail_level = min(detail_level) OVER (PARTITION BY log_id)
),
-- Where detail would save little there are the requests alone.
piece AS (
    FROM coarsest
    UNION ALL
    SELECT log_id, rank, op, length_bytes, start_seconds, end_seconds
    FROM core.segment
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id) AND layer = 'posix'
        AND log_id NOT IN (SELECT log_id FROM coarsest) AND log_id NOT IN (SELECT log_id FROM scale)
),
traced AS (
    SELECT
        log_id, 'trace' AS source, run_seconds AS shown_seconds, least(nprocs, 64) AS grid_rows,
        200 AS grid_columns, least(rank::HUGEINT * grid_rows // nprocs, grid_rows - 1)::BIGINT AS grid_row, op, moved_bytes,
        least(greatest(floor(start_seconds / run_seconds * grid_columns), 0), grid_columns - 1)::BIGINT AS first_column,
        least(greatest(floor(end_seconds / run_seconds * grid_columns), first_column), grid_columns - 1)::BIGINT AS last_column
    FROM piece JOIN wanted USING (log_id)
    WHERE rank >= 0 AND moved_bytes > 0 AND run_seconds > 0
        AND isfinite(start_seconds) AND isfinite(end_seconds) AND start_seconds >= 0 AND end_seconds >= start_seconds
        AND log_id NOT IN (SELECT log_id FROM scale)
),
of_trace AS (
    SELECT
        log_id, source, shown_seconds, grid_rows, grid_columns, grid_row,
        unnest(range(first_column, last_column + 1)) AS grid_column,
        CASE WHEN op = 'read' THEN moved_bytes / (last_column - first_column + 1) ELSE 0 END AS read_bytes,
        CASE WHEN op = 'write' THEN moved_bytes / (last_column - first_column + 1) ELSE 0 END AS write_bytes
    FROM traced
)
SELECT
    log_id, source, shown_seconds, grid_rows, grid_columns, grid_row, grid_column,
    sum(read_bytes) AS read_bytes, sum(write_bytes) AS write_bytes
FROM (FROM of_heatmap UNION ALL BY NAME FROM of_trace)
GROUP BY ALL
ORDER BY log_id
