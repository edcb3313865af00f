-- ---
-- about = "How the ranks of one log met in files: bytes that several moved, stripes that several wrote, requests across stripes."
-- grain = ["log_id"]
-- reads = [
--     "core.log", "core.unsound_module", "core.traced_overlap", "core.rank_io", "core.file_name", "core.log_gathering", "main.traces",
-- ]
-- ---
WITH per_log AS (
    SELECT
        cluster, night, log_id,
        bool_and(touched_bytes IS NOT NULL) AS has_offsets,
        SUM(ranks_bytes) FILTER (op = 'read' AND is_of_ranks) AS ranks_reread_bytes,
        SUM(again_bytes::HUGEINT - again_rank_bytes - again_host_bytes) FILTER (op = 'read' AND is_of_ranks) AS hosts_reread_bytes,
        SUM(moved_bytes::HUGEINT - again_rank_bytes) FILTER (op = 'read' AND is_of_ranks) AS ranks_read_bytes,
        list_sum(list_sort(list(ranks_seconds) FILTER (op = 'read' AND is_of_ranks))) AS ranks_reread_core_seconds,
        arg_max(file_id, ranks_bytes ORDER BY file_id) FILTER (op = 'read' AND is_of_ranks) AS ranks_reread_file_id,
        SUM(overlap_bytes) FILTER (op = 'write' AND is_of_ranks) AS overwritten_bytes,
        SUM(touched_bytes) FILTER (op = 'write' AND is_of_ranks) AS written_bytes,
        arg_max(overlap_rank_count, overlap_bytes ORDER BY file_id) FILTER (op = 'write' AND is_of_ranks)
            AS overwriting_rank_count,
        list_sum(list_sort(list(ranks_seconds) FILTER (op = 'write' AND is_of_ranks))) AS overwritten_core_seconds,
        arg_max(file_id, overlap_bytes ORDER BY file_id) FILTER (op = 'write' AND is_of_ranks) AS overwritten_file_id,
        SUM(shared_stripe_count) FILTER (op = 'write' AND stripe_bytes > 0) AS shared_stripe_count,
        SUM(stripe_count) FILTER (op = 'write' AND stripe_bytes > 0) AS written_stripe_count,
        list_sum(list_sort(list(shared_stripe_seconds) FILTER (op = 'write' AND stripe_bytes > 0)))
            AS shared_stripe_core_seconds,
        arg_max(file_id, shared_stripe_count ORDER BY file_id) FILTER (op = 'write' AND stripe_bytes > 0)
            AS shared_stripe_file_id,
        SUM(straddle_count) FILTER (fits_stripe) AS straddle_count,
        SUM(request_count) FILTER (fits_stripe) AS fitting_count,
        list_sum(list_sort(list(straddle_seconds) FILTER (fits_stripe))) AS straddle_core_seconds,
        arg_max(file_id, straddle_count ORDER BY file_id) FILTER (fits_stripe) AS straddle_file_id
    FROM core.traced_overlap
    GROUP BY ALL
),
hosts AS (
    SELECT cluster, night, log_id, COUNT(DISTINCT host) AS host_count
    FROM core.rank_io
    WHERE layer = 'posix' AND host IS NOT NULL
    GROUP BY ALL
),
worst AS (
    UNPIVOT (
        SELECT cluster, night, log_id, ranks_reread_file_id, overwritten_file_id, shared_stripe_file_id, straddle_file_id
        FROM per_log
    ) ON COLUMNS('_file_id$') INTO NAME kind VALUE file_id
),
named AS (
    SELECT
        cluster, night, log_id,
        MAX(path) FILTER (kind = 'ranks_reread_file_id') AS ranks_reread_path,
        MAX(path) FILTER (kind = 'overwritten_file_id') AS overwritten_path,
        MAX(path) FILTER (kind = 'shared_stripe_file_id') AS shared_stripe_path,
        MAX(path) FILTER (kind = 'straddle_file_id') AS straddle_path
    FROM worst
    JOIN core.file_name AS file_name USING (cluster, night, log_id, file_id)
    GROUP BY ALL
),
unsound AS (
    SELECT DISTINCT cluster, night, log_id
    FROM core.unsound_module
    WHERE module IN ('LUSTRE', 'MPI-IO', 'DXT_MPIIO')
)
SELECT
    log.log_id, log.cluster, log.night,
    COALESCE(has_offsets AND is_whole AND unsound.log_id IS NULL, FALSE) AS is_complete,
    CASE WHEN per_log.log_id IS NOT NULL THEN 'trace' END AS overlap_evidence,
    TRY_CAST(ranks_reread_bytes AS BIGINT) AS ranks_reread_bytes, TRY_CAST(hosts_reread_bytes AS BIGINT) AS hosts_reread_bytes,
    ranks_reread_bytes / NULLIF(ranks_read_bytes, 0) AS ranks_reread_ratio, ranks_reread_core_seconds, ranks_reread_path,
    TRY_CAST(overwritten_bytes AS BIGINT) AS overwritten_bytes, overwriting_rank_count,
    overwritten_bytes / NULLIF(written_bytes, 0) AS overwritten_ratio, overwritten_core_seconds, overwritten_path,
    TRY_CAST(shared_stripe_count AS BIGINT) AS shared_stripe_count,
    shared_stripe_count / NULLIF(written_stripe_count, 0) AS shared_stripe_ratio, shared_stripe_core_seconds, shared_stripe_path,
    host_count,
    TRY_CAST(straddle_count AS BIGINT) AS straddle_count, straddle_count / NULLIF(fitting_count, 0) AS straddle_ratio,
    straddle_core_seconds, straddle_path,
    writes.request_count AS gathered_write_count, writes.left_count AS left_write_count,
    writes.forwarder_count AS write_forwarder_count,
    writes.collective_gathering_ratio AS collective_write_gathering_ratio,
    writes.buffered_gathering_ratio AS buffered_write_gathering_ratio, writes.vain_gathering_ratio AS vain_write_gathering_ratio
FROM (SELECT cluster, night, log_id FROM core.log) AS log
LEFT JOIN per_log USING (cluster, night, log_id)
LEFT JOIN hosts USING (cluster, night, log_id)
LEFT JOIN named USING (cluster, night, log_id)
LEFT JOIN (SELECT cluster, night, log_id, is_whole FROM main.traces WHERE layer = 'posix') AS trace
    USING (cluster, night, log_id)
LEFT JOIN unsound USING (cluster, night, log_id)
LEFT JOIN (SELECT * FROM core.log_gathering WHERE op = 'write') AS writes USING (cluster, night, log_id)
