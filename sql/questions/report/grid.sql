-- ---
-- about = "Bytes of each layer by cells of time and of neighbouring ranks, 200 times 64 at most: of heat maps, or of the trace; cells are numbered row by row, and amounts of one cell add up."
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
    SELECT
        log_id, layer, layer = 'mpiio' AS is_mpiio, rank, bin_seconds, bin_count,
        read_bin_numbers, read_bin_amounts, write_bin_numbers, write_bin_amounts
    FROM core.heatmap_rank
    SEMI JOIN wanted USING (log_id)
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND layer IN ('posix', 'mpiio', 'stdio', 'dfs') AND rank >= 0
        AND bin_seconds > 0 AND isfinite(bin_seconds) AND bin_count > 0
        -- Bins that are no bytes: below 0, or an exbibyte and more.
        AND coalesce(list_bit_or(list_concat(read_bin_amounts, write_bin_amounts)), 0) BETWEEN 0 AND 1152921504606846975
),
kind AS (
    SELECT DISTINCT log_id, layer, is_mpiio, bin_seconds, bin_count
    FROM lane
),
scale AS (
    SELECT
        log_id, nprocs, least(nprocs, 64) AS grid_rows, max(bin_seconds) AS step_seconds,
        greatest(1, least(max(bin_count), ceil(any_value(run_seconds) / step_seconds), 1e15))::BIGINT AS step_count,
        least(step_count, 200) AS grid_columns, step_seconds * step_count AS shown_seconds
    FROM kind JOIN wanted USING (log_id)
    GROUP BY log_id, nprocs
),
coarsest AS (
    SELECT log_id, layer, rank, op, moved_bytes, start_seconds, end_seconds
    FROM core.rank_detail
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id) AND layer IN ('posix', 'mpiio')
    QUALIFY detail_level = min(detail_level) OVER (PARTITION BY log_id, layer)
),
-- Where detail would save little there are the requests alone.
piece AS (
    FROM coarsest
    UNION ALL
    SELECT log_id, layer, rank, op, length_bytes, start_seconds, end_seconds
    FROM core.segment
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id) AND layer IN ('posix', 'mpiio')
        AND (log_id, layer) NOT IN (SELECT (log_id, layer) FROM coarsest)
),
traced AS (
    SELECT
        log_id, layer, run_seconds AS shown_seconds, least(nprocs, 64) AS grid_rows, 200 AS grid_columns,
        least(rank::HUGEINT * grid_rows // nprocs, grid_rows - 1)::BIGINT AS grid_row, op, moved_bytes,
        least(greatest(floor(start_seconds / run_seconds * grid_columns), 0), grid_columns - 1)::BIGINT AS first_column,
        least(greatest(floor(end_seconds / run_seconds * grid_columns), first_column), grid_columns - 1)::BIGINT AS last_column
    FROM piece JOIN wanted USING (log_id)
    WHERE rank >= 0 AND moved_bytes > 0 AND run_seconds > 0
        AND isfinite(start_seconds) AND isfinite(end_seconds) AND start_seconds >= 0 AND end_seconds >= start_seconds
        -- A trace has no STDIO and no DFS: it stands for a heat map of these and POSIX together, or for that of MPI-IO.
        AND (log_id, layer = 'mpiio') NOT IN (SELECT (log_id, is_mpiio) FROM kind)
),
-- Millions of cells are added up by one number each: no picture has more than 64 times 200.
picture AS (
    SELECT *, 12800 * row_number() OVER () AS first_cell
    FROM (
        SELECT DISTINCT log_id, layer, 'heatmap' AS source, shown_seconds, grid_rows, grid_columns
        FROM kind JOIN scale USING (log_id)
        UNION ALL
        SELECT DISTINCT log_id, layer, 'trace', shown_seconds, grid_rows, grid_columns
        FROM traced
    )
),
-- Once for each rank, not for each of its bins.
placed AS (
    SELECT
        first_cell + least(rank::HUGEINT * scale.grid_rows // nprocs, scale.grid_rows - 1)::BIGINT * scale.grid_columns AS row_cell,
        bin_seconds * scale.grid_columns / scale.shown_seconds AS columns_per_bin, scale.grid_columns - 1 AS last_column,
        read_bin_numbers, read_bin_amounts, write_bin_numbers, write_bin_amounts
    FROM lane
    JOIN scale USING (log_id)
    JOIN picture USING (log_id, layer)
),
binned AS (
    SELECT
        row_cell, columns_per_bin, last_column, true AS is_read, unnest(read_bin_numbers) AS bin_number,
        unnest(read_bin_amounts) AS moved_bytes
    FROM placed
    UNION ALL
    SELECT row_cell, columns_per_bin, last_column, false, unnest(write_bin_numbers), unnest(write_bin_amounts)
    FROM placed
),
spread AS (
    SELECT
        first_cell + grid_row * grid_columns + unnest(range(first_column, last_column + 1)) AS cell, op,
        moved_bytes / (last_column - first_column + 1) AS moved_bytes
    FROM traced
    JOIN (SELECT log_id, layer, first_cell FROM picture) USING (log_id, layer)
),
amount AS (
    SELECT
        row_cell + least(floor((bin_number + 0.5) * columns_per_bin), last_column)::BIGINT AS cell, is_read,
        moved_bytes::DOUBLE AS moved_bytes
    FROM binned
    UNION ALL
    SELECT cell, op = 'read', moved_bytes
    FROM spread
),
listed AS (
    SELECT
        cell - cell % 12800 AS first_cell,
        list(cell % 12800) FILTER (WHERE is_read) AS read_cells, list(moved_bytes) FILTER (WHERE is_read) AS read_bytes,
        list(cell % 12800) FILTER (WHERE NOT is_read) AS write_cells, list(moved_bytes) FILTER (WHERE NOT is_read) AS write_bytes
    FROM amount
    GROUP BY first_cell
)
SELECT log_id, layer, source, shown_seconds, grid_rows, grid_columns, read_cells, read_bytes, write_cells, write_bytes
FROM listed JOIN picture USING (first_cell)
