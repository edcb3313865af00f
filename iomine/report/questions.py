"""What reports ask the warehouse, for many logs at once.

Each question takes the place of `{where}` for a condition on `cluster`, `night` and `log_id`, and gives rows with a
`log_id`. Bounds on rows are here, so that a log with a hundred thousand files costs no more than what is shown of it.
"""

# ruff: noqa: S608  numbers of ours; whoever fills a condition in quotes what is in it

from typing import Final

SHOWN_FILES: Final = 20
SHOWN_OSTS: Final = 16
SHOWN_PHASES: Final = 10
SHOWN_HINTS: Final = 12
SHOWN_RUNS: Final = 12
HISTORY_DAYS: Final = 90
# Cells of the picture of a run.
GRID_ROWS: Final = 64
GRID_COLUMNS: Final = 200

LOGS: Final = """
SELECT *
FROM (SELECT * FROM logs WHERE {where}) AS log
LEFT JOIN (SELECT log_id, count(DISTINCT host) AS host_count FROM core.rank_io WHERE {where} GROUP BY log_id) USING (log_id)
"""

VERDICTS: Final = """
SELECT log_id, code, level, state, value, bar, evidence, finding, advice, cost_core_seconds, charged_core_seconds,
    idle_core_seconds, reason
FROM core.verdict
WHERE {where} AND ruleset = 'iomine' AND state <> 'clear'
ORDER BY cost_core_seconds + coalesce(idle_core_seconds, 0) DESC NULLS LAST, code
"""

WEATHER: Final = """
SELECT
    log_id, weather_verdict, weather_rule, weather_slowdown_ratio, is_slow_run, run_slowdown_ratio, lost_service_seconds,
    slowest_kind, own_ratio, neighbour, neighbour_ratio
FROM job_weather
WHERE {where}
"""

MODULES: Final = """
SELECT log_id, module, state, reason, is_partial
FROM core.module
WHERE {where}
ORDER BY module
"""

LAYERS: Final = "SELECT * EXCLUDE (cluster, night) FROM log_layers WHERE {where} ORDER BY slowest_io_seconds DESC, layer"

SIZES: Final = """
SELECT log_id, 'posix' AS layer, SUM(COLUMNS('^(read|write)_size_.*_count$'))::DOUBLE AS '\\0'
FROM core.posix_file
WHERE {where}
GROUP BY log_id
UNION ALL BY NAME
SELECT log_id, 'mpiio' AS layer, SUM(COLUMNS('^(read|write)_size_.*_count$'))::DOUBLE AS '\\0'
FROM core.mpiio_file
WHERE {where}
GROUP BY log_id
"""

FILES: Final = f"""
WITH timed AS (
    SELECT *, coalesce(read_seconds, 0) + coalesce(write_seconds, 0) + coalesce(meta_seconds, 0) AS io_seconds
    FROM files
    WHERE {{where}}
),
placed AS (
    SELECT log_id, file_id, max(len(ost_ids)) AS ost_count
    FROM core.lustre_component
    WHERE {{where}}
    GROUP BY ALL
)
SELECT
    log_id, path, mount, fs_type, is_shared, rank_count, ost_count, read_bytes, write_bytes, read_count, write_count, io_seconds,
    count(*) OVER log AS log_file_count,
    sum(read_bytes::DOUBLE) OVER log AS log_read_bytes, sum(write_bytes::DOUBLE) OVER log AS log_write_bytes,
    sum(io_seconds) OVER log AS log_io_seconds
FROM timed
LEFT JOIN placed USING (log_id, file_id)
WINDOW log AS (PARTITION BY log_id)
QUALIFY row_number() OVER (PARTITION BY log_id ORDER BY io_seconds DESC, path, file_id) <= {SHOWN_FILES}
ORDER BY io_seconds DESC, path
"""

# The slowest first, then those that took most time; amounts of which no OST is known are always there.
OSTS: Final = f"""
WITH pace AS (
    SELECT
        log_id, ost_id, bool_or(is_slow) AS is_slow, sum(beyond_median_seconds) FILTER (is_slow) AS beyond_seconds,
        arg_max(slowness_ratio, beyond_median_seconds) AS slowness_ratio
    FROM core.ost_pace
    WHERE {{where}} AND layer = 'posix'
    GROUP BY ALL
),
per_ost AS (
    SELECT
        log_id, ost_id, any_value(evidence) AS evidence, any_value(reason) AS reason,
        -- A direction without a row moved nothing; one whose bytes are not known stays so.
        if(count(*) FILTER (WHERE op = 'read') = 0, 0, sum(moved_bytes::DOUBLE) FILTER (WHERE op = 'read')) AS read_bytes,
        if(count(*) FILTER (WHERE op = 'write') = 0, 0, sum(moved_bytes::DOUBLE) FILTER (WHERE op = 'write')) AS write_bytes,
        sum(moved_bytes::DOUBLE) AS moved_bytes, sum(request_seconds) AS request_seconds
    FROM ost_io
    WHERE {{where}} AND layer = 'posix'
    GROUP BY ALL
)
SELECT
    * EXCLUDE (is_slow, beyond_seconds), coalesce(is_slow, false) AS is_slow, count(ost_id) OVER log AS log_ost_count,
    row_number() OVER (
        PARTITION BY log_id
        ORDER BY ost_id IS NULL DESC, beyond_seconds DESC NULLS LAST, request_seconds DESC NULLS LAST, moved_bytes DESC, ost_id
    ) AS place
FROM per_ost
LEFT JOIN pace USING (log_id, ost_id)
WINDOW log AS (PARTITION BY log_id)
QUALIFY place <= {SHOWN_OSTS}
ORDER BY place
"""

PHASES: Final = f"""
SELECT
    log_id, phase, start_seconds, end_seconds, read_bytes, write_bytes, rank_count, straggler_count, slowest_rank,
    slowest_rank_seconds, count(*) OVER (PARTITION BY log_id) AS log_phase_count
FROM phases
WHERE {{where}} AND layer = 'all'
QUALIFY row_number() OVER (PARTITION BY log_id ORDER BY end_seconds - start_seconds DESC, phase) <= {SHOWN_PHASES}
ORDER BY phase
"""

HINTS: Final = f"""
SELECT log_id, key, entry, count(*) OVER (PARTITION BY log_id) AS log_hint_count
FROM core.metadata
WHERE {{where}}
QUALIFY row_number() OVER (PARTITION BY log_id ORDER BY key, entry) <= {SHOWN_HINTS}
ORDER BY key, entry
"""

# {history} is a condition on cluster and night, {wanted} the logs' ids.
HISTORY: Final = f"""
WITH wanted AS (SELECT DISTINCT lineage_id FROM core.log WHERE {{where}}),
run AS (
    SELECT
        log_id, lineage_id, start_at, nprocs, run_seconds, read_bytes, write_bytes,
        io_core_seconds / nullif(run_seconds * nprocs, 0) AS io_ratio
    FROM core.log
    SEMI JOIN wanted USING (lineage_id)
    WHERE {{history}}
),
told AS (SELECT log_id, count(*) AS finding_count FROM findings WHERE {{history}} GROUP BY ALL),
numbered AS (
    SELECT
        * REPLACE (coalesce(finding_count, 0) AS finding_count),
        row_number() OVER (PARTITION BY lineage_id ORDER BY start_at, log_id) AS place
    FROM run
    LEFT JOIN told USING (log_id)
),
shown AS (
    SELECT log_id AS of_log_id, lineage_id, unnest(range(place - {SHOWN_RUNS - 1}, place + 1)) AS place
    FROM numbered
    WHERE log_id IN ({{wanted}})
)
SELECT of_log_id, log_id, start_at, nprocs, run_seconds, read_bytes, write_bytes, io_ratio, finding_count
FROM shown
JOIN numbered USING (lineage_id, place)
ORDER BY place
"""

# Accounting tells a job again and again until it has ended.
JOBS: Final = """
SELECT
    job_id, job_name, account, partition, job_state, node_count, run_seconds
FROM core.job
WHERE {history} AND job_id IN ({jobs})
QUALIFY row_number() OVER (PARTITION BY job_id ORDER BY end_at IS NULL, end_at DESC, job_state) = 1
"""

# Bytes by cells of time and of neighbouring ranks, of heat maps, or of the trace where there are none.
GRID: Final = f"""
WITH wanted AS (SELECT log_id, nprocs, run_seconds FROM core.log WHERE {{where}} AND nprocs > 0),
lane AS (
    SELECT log_id, rank, bin_seconds, bin_count, read_bins, write_bins
    FROM core.heatmap_rank
    WHERE {{where}} AND layer IN ('posix', 'stdio', 'dfs') AND rank >= 0 AND bin_seconds > 0
        AND isfinite(bin_seconds) AND bin_count > 0
),
scale AS (
    SELECT
        log_id, nprocs, least(nprocs, {GRID_ROWS}) AS grid_rows, max(bin_seconds) AS step_seconds,
        greatest(1, least(max(bin_count), ceil(any_value(run_seconds) / step_seconds)))::BIGINT AS step_count,
        least(step_count, {GRID_COLUMNS}) AS grid_columns, step_seconds * step_count AS shown_seconds, 'heatmap' AS source
    FROM lane JOIN wanted USING (log_id)
    GROUP BY log_id, nprocs
),
binned AS (
    SELECT
        log_id, source, shown_seconds, grid_rows, grid_columns, least(rank * grid_rows // nprocs, grid_rows - 1) AS grid_row,
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
    WHERE {{where}} AND layer = 'posix'
    QUALIFY detail_level = min(detail_level) OVER (PARTITION BY log_id)
),
-- Where detail would save little there are the requests alone.
piece AS (
    FROM coarsest
    UNION ALL
    SELECT log_id, rank, op, length_bytes, start_seconds, end_seconds
    FROM core.segment
    WHERE {{where}} AND layer = 'posix'
        AND log_id NOT IN (SELECT log_id FROM coarsest) AND log_id NOT IN (SELECT log_id FROM scale)
),
traced AS (
    SELECT
        log_id, 'trace' AS source, run_seconds AS shown_seconds, least(nprocs, {GRID_ROWS}) AS grid_rows,
        {GRID_COLUMNS} AS grid_columns, least(rank * grid_rows // nprocs, grid_rows - 1) AS grid_row, op, moved_bytes,
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
"""
