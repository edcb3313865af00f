-- ---
-- about = "The requests of one log: how many are small, go backwards, are misaligned or move bytes again, and what that cost."
-- grain = ["log_id"]
-- reads = ["core.log", "core.unsound_module", "core.file_name", "core.request_size", "core.request_time", "core.log_gathering"]
-- ---
-- In order, since the same floats added up in another order give another last digit.
WITH per_log AS (
    SELECT
        cluster, night, log_id,
        SUM(request_count) FILTER (op = 'read') AS read_count,
        SUM(small_count) FILTER (op = 'read') AS counted_small_read_count,
        list_sum(list_sort(list(small_seconds) FILTER (op = 'read'))) AS small_read_core_seconds,
        MAX(size_evidence) FILTER (op = 'read') AS counted_read_size_evidence,
        SUM(backward_count) FILTER (op = 'read') AS backward_read_count,
        SUM(request_count) FILTER (op = 'read' AND layer = 'posix') AS posix_read_count,
        list_sum(list_sort(list(backward_seconds) FILTER (op = 'read'))) AS backward_read_core_seconds,
        MIN(order_evidence) FILTER (op = 'read') AS read_order_evidence,
        bool_or(layer = 'posix' AND op = 'read' AND backward_count IS NULL) AS lacks_read_order,
        -- Reads that were asked for beyond the end of a file moved nothing.
        SUM(CASE WHEN moved_bytes < asked_bytes THEN moved_bytes ELSE asked_bytes END) FILTER (op = 'read') AS asked_read_bytes,
        SUM(again_bytes) FILTER (op = 'read') AS reread_bytes,
        list_sum(list_sort(list(again_seconds) FILTER (op = 'read'))) AS reread_core_seconds,
        MIN(extent_evidence) FILTER (op = 'read') AS read_extent_evidence,
        bool_or(layer = 'posix' AND op = 'read' AND moved_bytes > 0 AND again_bytes IS NULL) AS lacks_read_extent,
        SUM(request_count) FILTER (op = 'write') AS write_count,
        SUM(small_count) FILTER (op = 'write') AS counted_small_write_count,
        list_sum(list_sort(list(small_seconds) FILTER (op = 'write'))) AS small_write_core_seconds,
        MAX(size_evidence) FILTER (op = 'write') AS counted_write_size_evidence,
        SUM(backward_count) FILTER (op = 'write') AS backward_write_count,
        SUM(request_count) FILTER (op = 'write' AND layer = 'posix') AS posix_write_count,
        list_sum(list_sort(list(backward_seconds) FILTER (op = 'write'))) AS backward_write_core_seconds,
        MIN(order_evidence) FILTER (op = 'write') AS write_order_evidence,
        bool_or(layer = 'posix' AND op = 'write' AND backward_count IS NULL) AS lacks_write_order,
        SUM(asked_bytes) FILTER (op = 'write') AS asked_write_bytes,
        SUM(again_bytes) FILTER (op = 'write') AS rewritten_bytes,
        list_sum(list_sort(list(again_seconds) FILTER (op = 'write'))) AS rewritten_core_seconds,
        MIN(extent_evidence) FILTER (op = 'write') AS write_extent_evidence,
        bool_or(layer = 'posix' AND op = 'write' AND moved_bytes > 0 AND again_bytes IS NULL) AS lacks_write_extent,
        list_sum(list_sort(list(request_seconds))) AS request_seconds,
        SUM(misaligned_count) FILTER (NOT is_beneath_mpiio) AS misaligned_count,
        SUM(request_count) FILTER (NOT is_beneath_mpiio AND layer = 'posix') AS direct_count,
        list_sum(list_sort(list(misaligned_seconds) FILTER (NOT is_beneath_mpiio))) AS misaligned_core_seconds,
        SUM(misaligned_count) FILTER (is_beneath_mpiio) AS mpiio_misaligned_count,
        SUM(request_count) FILTER (is_beneath_mpiio) AS beneath_count,
        list_sum(list_sort(list(misaligned_seconds) FILTER (is_beneath_mpiio))) AS mpiio_misaligned_core_seconds,
        arg_max(file_id, small_seconds ORDER BY file_id) FILTER (op = 'read' AND small_count > 0) AS small_read_file_id,
        arg_max(file_id, small_seconds ORDER BY file_id) FILTER (op = 'write' AND small_count > 0) AS small_write_file_id,
        arg_max(file_id, misaligned_seconds ORDER BY file_id) FILTER (NOT is_beneath_mpiio AND misaligned_count > 0)
            AS misaligned_file_id,
        arg_max(file_id, again_bytes ORDER BY file_id) FILTER (op = 'read' AND again_bytes > 0) AS reread_file_id,
        arg_max(file_id, again_bytes ORDER BY file_id) FILTER (op = 'write' AND again_bytes > 0) AS rewritten_file_id
    FROM core.request_time
    GROUP BY ALL
),
traced AS (
    SELECT
        cluster, night, log_id,
        SUM(request_count) FILTER (op = 'read') AS traced_read_count,
        SUM(request_count) FILTER (op = 'write') AS traced_write_count,
        SUM(request_count) FILTER (
            op = 'read' AND length_bytes < COALESCE(getvariable('small_read_bytes'), 1048576)
        ) AS small_traced_read_count,
        SUM(request_count) FILTER (
            op = 'write' AND length_bytes < COALESCE(getvariable('small_write_bytes'), 1048576)
        ) AS small_traced_write_count
    FROM core.request_size
    WHERE layer = 'posix'
    GROUP BY ALL
),
worst AS (
    UNPIVOT (
        SELECT
            cluster, night, log_id, small_read_file_id, small_write_file_id, misaligned_file_id, reread_file_id,
            rewritten_file_id
        FROM per_log
    ) ON COLUMNS('_file_id$') INTO NAME kind VALUE file_id
),
named AS (
    SELECT
        cluster, night, log_id,
        MAX(path) FILTER (kind = 'small_read_file_id') AS small_read_path,
        MAX(path) FILTER (kind = 'small_write_file_id') AS small_write_path,
        MAX(path) FILTER (kind = 'misaligned_file_id') AS misaligned_path,
        MAX(path) FILTER (kind = 'reread_file_id') AS reread_path,
        MAX(path) FILTER (kind = 'rewritten_file_id') AS rewritten_path
    FROM worst
    JOIN core.file_name AS file_name USING (cluster, night, log_id, file_id)
    GROUP BY ALL
),
unsound AS (
    SELECT DISTINCT cluster, night, log_id
    FROM core.unsound_module
    WHERE module IN ('POSIX', 'STDIO')
),
counted AS (
    SELECT
        per_log.*,
        traced_read_count = posix_read_count AND read_count = posix_read_count AS has_read_sizes,
        traced_write_count = posix_write_count AND write_count = posix_write_count AS has_write_sizes,
        CASE WHEN has_read_sizes THEN COALESCE(small_traced_read_count, 0) ELSE counted_small_read_count END AS small_read_count,
        CASE WHEN has_write_sizes THEN COALESCE(small_traced_write_count, 0) ELSE counted_small_write_count END
            AS small_write_count
    FROM per_log
    LEFT JOIN traced USING (cluster, night, log_id)
)
SELECT
    log.log_id, log.cluster, log.night,
    unsound.log_id IS NULL AS is_complete,
    COALESCE(getvariable('small_read_bytes'), 1048576)::BIGINT AS small_read_bytes,
    COALESCE(getvariable('small_write_bytes'), 1048576)::BIGINT AS small_write_bytes,
    TRY_CAST(read_count AS BIGINT) AS read_count, TRY_CAST(write_count AS BIGINT) AS write_count,
    TRY_CAST(small_read_count AS BIGINT) AS small_read_count, TRY_CAST(small_write_count AS BIGINT) AS small_write_count,
    -- No requests, no ratio: a zero would look like a clean bill of health.
    small_read_count / NULLIF(read_count, 0) AS small_read_ratio,
    small_write_count / NULLIF(write_count, 0) AS small_write_ratio,
    small_read_core_seconds, small_write_core_seconds,
    small_read_core_seconds / NULLIF(request_seconds, 0) AS small_read_seconds_ratio,
    small_write_core_seconds / NULLIF(request_seconds, 0) AS small_write_seconds_ratio,
    CASE WHEN has_read_sizes THEN 'trace' ELSE counted_read_size_evidence END AS read_size_evidence,
    CASE WHEN has_write_sizes THEN 'trace' ELSE counted_write_size_evidence END AS write_size_evidence,
    TRY_CAST(backward_read_count AS BIGINT) AS backward_read_count,
    TRY_CAST(backward_write_count AS BIGINT) AS backward_write_count,
    -- Sums over some of the files are lower bounds, which are enough for a log whose records are not all there.
    CASE WHEN NOT lacks_read_order OR unsound.log_id IS NOT NULL THEN backward_read_count / NULLIF(posix_read_count, 0) END
        AS backward_read_ratio,
    CASE WHEN NOT lacks_write_order OR unsound.log_id IS NOT NULL THEN backward_write_count / NULLIF(posix_write_count, 0) END
        AS backward_write_ratio,
    backward_read_core_seconds, backward_write_core_seconds,
    backward_read_core_seconds / NULLIF(request_seconds, 0) AS backward_read_seconds_ratio,
    backward_write_core_seconds / NULLIF(request_seconds, 0) AS backward_write_seconds_ratio,
    read_order_evidence, write_order_evidence,
    TRY_CAST(misaligned_count AS BIGINT) AS misaligned_count,
    misaligned_count / NULLIF(direct_count, 0) AS misaligned_ratio,
    misaligned_core_seconds,
    misaligned_core_seconds / NULLIF(request_seconds, 0) AS misaligned_seconds_ratio,
    TRY_CAST(mpiio_misaligned_count AS BIGINT) AS mpiio_misaligned_count,
    mpiio_misaligned_count / NULLIF(beneath_count, 0) AS mpiio_misaligned_ratio,
    mpiio_misaligned_core_seconds,
    mpiio_misaligned_core_seconds / NULLIF(request_seconds, 0) AS mpiio_misaligned_seconds_ratio,
    TRY_CAST(reread_bytes AS BIGINT) AS reread_bytes, TRY_CAST(rewritten_bytes AS BIGINT) AS rewritten_bytes,
    CASE WHEN NOT lacks_read_extent OR unsound.log_id IS NOT NULL THEN reread_bytes / NULLIF(asked_read_bytes, 0) END
        AS reread_ratio,
    CASE WHEN NOT lacks_write_extent OR unsound.log_id IS NOT NULL THEN rewritten_bytes / NULLIF(asked_write_bytes, 0) END
        AS rewritten_ratio,
    reread_core_seconds, rewritten_core_seconds, read_extent_evidence, write_extent_evidence,
    small_read_path, small_write_path, misaligned_path, reread_path, rewritten_path,
    reads.request_count AS gathered_read_count, reads.left_count AS left_read_count,
    reads.forwarder_count AS read_forwarder_count,
    reads.collective_gathering_ratio AS collective_read_gathering_ratio,
    reads.buffered_gathering_ratio AS buffered_read_gathering_ratio, reads.vain_gathering_ratio AS vain_read_gathering_ratio,
    writes.request_count AS gathered_write_count, writes.left_count AS left_write_count,
    writes.forwarder_count AS write_forwarder_count,
    writes.collective_gathering_ratio AS collective_write_gathering_ratio,
    writes.buffered_gathering_ratio AS buffered_write_gathering_ratio, writes.vain_gathering_ratio AS vain_write_gathering_ratio
FROM (SELECT cluster, night, log_id FROM core.log) AS log
LEFT JOIN counted USING (cluster, night, log_id)
LEFT JOIN named USING (cluster, night, log_id)
LEFT JOIN unsound USING (cluster, night, log_id)
LEFT JOIN (SELECT * FROM core.log_gathering WHERE op = 'read') AS reads USING (cluster, night, log_id)
LEFT JOIN (SELECT * FROM core.log_gathering WHERE op = 'write') AS writes USING (cluster, night, log_id)
