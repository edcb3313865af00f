-- ---
-- about = "What a log's reads of a file, or its writes, look like: how many are small, go backwards, are misaligned, move bytes again."
-- grain = ["log_id", "layer", "file_id", "op"]
-- reads = [
--     "core.log", "core.posix_file", "core.mpiio_file", "core.stdio_file", "core.file_access", "core.file_overlap", "core.mpiio_posix",
--     "core.synced_file",
-- ]
-- ---
-- A read and a write are asked the same questions, so each direction has a row of its own. HUGEINT where counters of a
-- hostile log could end the judging of all others. Both directions come from one scan: DuckDB merges two equal
-- scans into one, and then reads all nights, whichever is asked for.
WITH posix_record AS (
    SELECT
        *,
        read_count::HUGEINT + write_count AS all_count,
        -- The four commonest sizes hold for both directions together; they say all where there are no other requests.
        COALESCE(access1_count, 0)::HUGEINT + COALESCE(access2_count, 0) + COALESCE(access3_count, 0) + COALESCE(access4_count, 0)
            = all_count AND (read_count = 0 OR write_count = 0) AS is_sized
    FROM core.posix_file
),
posix_op AS (
    SELECT
        cluster, night, log_id, file_id, op, all_count, is_sized,
        CASE op WHEN 'read' THEN read_count ELSE write_count END AS request_count,
        CASE op WHEN 'read' THEN read_bytes ELSE write_bytes END AS moved_bytes,
        CASE op WHEN 'read' THEN read_seconds ELSE write_seconds END AS request_seconds,
        CASE op WHEN 'read' THEN sequential_read_count ELSE sequential_write_count END AS sequential_count,
        CASE op WHEN 'read' THEN max_read_offset_bytes ELSE max_write_offset_bytes END::HUGEINT + 1 AS extent_bytes,
        open_count, file_not_aligned_count,
        COALESCE(CASE op WHEN 'read' THEN getvariable('small_read_bytes') ELSE getvariable('small_write_bytes') END, 1048576)::BIGINT
            AS small_bytes,
        access1_bytes, access2_bytes, access3_bytes, access4_bytes,
        access1_count, access2_count, access3_count, access4_count,
        CASE op WHEN 'read' THEN read_size_0_100_count ELSE write_size_0_100_count END AS size_0_100_count,
        CASE op WHEN 'read' THEN read_size_100_1k_count ELSE write_size_100_1k_count END AS size_100_1k_count,
        CASE op WHEN 'read' THEN read_size_1k_10k_count ELSE write_size_1k_10k_count END AS size_1k_10k_count,
        CASE op WHEN 'read' THEN read_size_10k_100k_count ELSE write_size_10k_100k_count END AS size_10k_100k_count,
        CASE op WHEN 'read' THEN read_size_100k_1m_count ELSE write_size_100k_1m_count END AS size_100k_1m_count,
        CASE op WHEN 'read' THEN read_size_1m_4m_count ELSE write_size_1m_4m_count END AS size_1m_4m_count,
        CASE op WHEN 'read' THEN read_size_4m_10m_count ELSE write_size_4m_10m_count END AS size_4m_10m_count,
        CASE op WHEN 'read' THEN read_size_10m_100m_count ELSE write_size_10m_100m_count END AS size_10m_100m_count,
        CASE op WHEN 'read' THEN read_size_100m_1g_count ELSE write_size_100m_1g_count END AS size_100m_1g_count
    FROM posix_record
    CROSS JOIN (VALUES ('read'), ('write')) AS direction(op)
    WHERE CASE op WHEN 'read' THEN read_count ELSE write_count END > 0
),
posix_counted AS (
    SELECT
        *,
        CASE WHEN access1_bytes = small_bytes THEN access1_count::HUGEINT ELSE 0 END
            + CASE WHEN access2_bytes = small_bytes THEN access2_count ELSE 0 END
            + CASE WHEN access3_bytes = small_bytes THEN access3_count ELSE 0 END
            + CASE WHEN access4_bytes = small_bytes THEN access4_count ELSE 0 END AS on_threshold_count,
        CASE WHEN is_sized THEN
            CASE WHEN access1_bytes < small_bytes THEN access1_count::HUGEINT ELSE 0 END
            + CASE WHEN access2_bytes < small_bytes THEN access2_count ELSE 0 END
            + CASE WHEN access3_bytes < small_bytes THEN access3_count ELSE 0 END
            + CASE WHEN access4_bytes < small_bytes THEN access4_count ELSE 0 END
        ELSE
            CASE WHEN small_bytes >= 100 THEN size_0_100_count::HUGEINT ELSE 0 END
            + CASE WHEN small_bytes >= 1024 THEN size_100_1k_count ELSE 0 END
            + CASE WHEN small_bytes >= 10240 THEN size_1k_10k_count ELSE 0 END
            + CASE WHEN small_bytes >= 102400 THEN size_10k_100k_count ELSE 0 END
            + CASE WHEN small_bytes >= 1048576 THEN size_100k_1m_count ELSE 0 END
            + CASE WHEN small_bytes >= 4194304 THEN size_1m_4m_count ELSE 0 END
            + CASE WHEN small_bytes >= 10485760 THEN size_4m_10m_count ELSE 0 END
            + CASE WHEN small_bytes >= 104857600 THEN size_10m_100m_count ELSE 0 END
            + CASE WHEN small_bytes >= 1073741824 THEN size_100m_1g_count ELSE 0 END
            -- The upper edge of a bin is in it, and is not below itself.
            - LEAST(on_threshold_count, CASE small_bytes
                WHEN 100 THEN size_0_100_count
                WHEN 1024 THEN size_100_1k_count
                WHEN 10240 THEN size_1k_10k_count
                WHEN 102400 THEN size_10k_100k_count
                WHEN 1048576 THEN size_100k_1m_count
                WHEN 4194304 THEN size_1m_4m_count
                WHEN 10485760 THEN size_4m_10m_count
                WHEN 104857600 THEN size_10m_100m_count
                WHEN 1073741824 THEN size_100m_1g_count
                ELSE 0
            END)
        END AS small_count,
        -- To Darshan the first access after an open is not sequential, unless it is at the beginning of the file.
        request_count::HUGEINT - sequential_count - open_count AS not_sequential_count,
        CASE WHEN not_sequential_count < 0 THEN 0 ELSE not_sequential_count END AS backward_count,
        -- Darshan counts both directions together. They get whole parts, which add up to what it counts.
        CASE op
            WHEN 'read' THEN round(request_count::HUGEINT * file_not_aligned_count / NULLIF(all_count, 0))
            ELSE file_not_aligned_count - round((all_count - request_count) * file_not_aligned_count / NULLIF(all_count, 0))
        END AS misaligned_count
    FROM posix_op
),
posix_per_file AS (
    SELECT
        cluster, night, log_id, file_id, op,
        SUM(request_count) AS request_count, SUM(moved_bytes) AS moved_bytes, list_sum(list_sort(list(request_seconds))) AS request_seconds,
        SUM(small_count) AS small_count,
        -- If some ranks are not known, the sum of all is not known.
        CASE WHEN bool_and(backward_count IS NOT NULL) THEN SUM(backward_count) END AS backward_count,
        SUM(misaligned_count) AS misaligned_count,
        CASE WHEN bool_and(moved_bytes = 0 OR extent_bytes IS NOT NULL) THEN MAX(extent_bytes) END AS extent_bytes,
        bool_and(is_sized) AS is_sized
    FROM posix_counted
    GROUP BY ALL
),
mpiio_op AS (
    SELECT
        cluster, night, log_id, file_id, op, SUM(CASE op WHEN 'read' THEN read_bytes ELSE write_bytes END) AS asked_bytes
    FROM core.mpiio_file
    CROSS JOIN (VALUES ('read'), ('write')) AS direction(op)
    GROUP BY ALL
),
posix AS (
    SELECT
        posix.* EXCLUDE (extent_bytes, is_sized, backward_count, request_seconds),
        'posix' AS layer,
        mpiio.asked_bytes IS NOT NULL AS is_beneath_mpiio,
        -- What the program asked for: beneath MPI-IO, POSIX may move more or less than that.
        COALESCE(mpiio.asked_bytes, posix.moved_bytes) AS asked_bytes,
        -- A trace that ran out of memory lacks requests.
        COALESCE(access.request_count = posix.request_count, FALSE) AS is_traced,
        -- Calls of threads that overlap are longer in a trace than the time in which Darshan counts them.
        CASE WHEN is_traced THEN LEAST(access.request_seconds, posix.request_seconds) ELSE posix.request_seconds END
            AS request_seconds,
        CASE WHEN is_traced THEN COALESCE(access.touched_bytes, extent_bytes) ELSE extent_bytes END AS touched_bytes,
        CASE WHEN is_traced THEN COALESCE(access.backward_count, posix.backward_count) ELSE posix.backward_count END
            AS backward_count,
        -- Where MPI-IO makes other requests of those of the ranks, these say nothing of what a rank asked for.
        CASE WHEN is_traced AND (
            mpiio.asked_bytes IS NULL OR (unchanged_ratio = 1 AND mpiio_request_count = posix.request_count)
        ) THEN again_rank_bytes END AS again_rank_bytes,
        CASE WHEN is_sized THEN 'sizes' ELSE 'bins' END AS size_evidence,
        CASE WHEN is_traced AND access.backward_count IS NOT NULL THEN 'trace' ELSE 'counters' END AS order_evidence,
        CASE WHEN is_traced AND access.touched_bytes IS NOT NULL THEN 'trace' ELSE 'size' END AS extent_evidence
    FROM posix_per_file AS posix
    LEFT JOIN mpiio_op AS mpiio USING (cluster, night, log_id, file_id, op)
    LEFT JOIN (FROM core.file_access WHERE layer = 'posix') AS access USING (cluster, night, log_id, file_id, op)
    LEFT JOIN (
        SELECT cluster, night, log_id, file_id, op, again_rank_bytes
        FROM core.file_overlap
        WHERE layer = 'posix'
    ) AS overlap USING (cluster, night, log_id, file_id, op)
    LEFT JOIN (
        SELECT cluster, night, log_id, file_id, op, unchanged_ratio, mpiio_request_count
        FROM core.mpiio_posix
    ) AS match USING (cluster, night, log_id, file_id, op)
),
stdio_op AS (
    SELECT
        cluster, night, log_id, file_id, op,
        CASE op WHEN 'read' THEN read_count ELSE write_count END AS request_count,
        CASE op WHEN 'read' THEN read_bytes ELSE write_bytes END AS moved_bytes,
        CASE op WHEN 'read' THEN read_seconds ELSE write_seconds END AS request_seconds,
        -- A stream that appends has offsets of its own, which say nothing of what it writes again.
        CASE op WHEN 'read' THEN max_read_offset_bytes::HUGEINT + 1 END AS extent_bytes,
        CASE WHEN is_shared THEN nprocs ELSE 1 END AS rank_count,
        COALESCE(CASE op WHEN 'read' THEN getvariable('small_read_bytes') ELSE getvariable('small_write_bytes') END, 1048576)::BIGINT
            AS small_bytes
    FROM core.stdio_file
    JOIN (SELECT cluster, night, log_id, nprocs FROM core.log) AS log USING (cluster, night, log_id)
    CROSS JOIN (VALUES ('read'), ('write')) AS direction(op)
    WHERE CASE op WHEN 'read' THEN read_count ELSE write_count END > 0
),
stdio AS (
    SELECT
        cluster, night, log_id, file_id, op,
        SUM(request_count) AS request_count, SUM(moved_bytes) AS moved_bytes, list_sum(list_sort(list(request_seconds))) AS request_seconds,
        -- stdio has no sizes but the mean.
        SUM(CASE WHEN moved_bytes < request_count::HUGEINT * small_bytes THEN request_count ELSE 0 END) AS small_count,
        SUM(moved_bytes) FILTER (op = 'read') AS asked_bytes,
        CASE WHEN bool_and(moved_bytes = 0 OR extent_bytes IS NOT NULL) THEN MAX(extent_bytes) END AS touched_bytes,
        -- At least: no rank touches more than the file has, so an input that each rank reads once is not read again by any.
        -- More than a BIGINT holds is more than was moved, and of a hostile log the products would not add up.
        SUM(LEAST(GREATEST(extent_bytes * rank_count, 0), 9223372036854775807)) FILTER (extent_bytes * rank_count IS NOT NULL) AS most_once_bytes,
        TRY_CAST(CASE WHEN bool_and(op = 'read') THEN GREATEST(SUM(moved_bytes) - most_once_bytes, 0) END AS BIGINT)
            AS again_rank_bytes,
        'stdio' AS layer, 'mean' AS size_evidence, CASE WHEN op = 'read' THEN 'size' END AS extent_evidence
    FROM stdio_op
    GROUP BY ALL
),
both_layers AS (FROM posix UNION ALL BY NAME FROM stdio),
timed AS (
    SELECT
        both_layers.* REPLACE (
            -- A whole trace holds no syncs. If calls overlap, syncs may take longer than Darshan counts for both.
            CASE WHEN is_traced THEN request_seconds ELSE request_seconds - LEAST(COALESCE(synced_seconds, 0), request_seconds) END
                AS request_seconds
        ),
        -- Reads that MPI-IO asked for beyond the end of a file moved nothing.
        CASE WHEN op = 'read' AND moved_bytes < asked_bytes THEN moved_bytes ELSE asked_bytes END AS had_bytes
    FROM both_layers
    LEFT JOIN (SELECT *, 'write' AS op FROM core.synced_file) AS syncs USING (cluster, night, log_id, layer, file_id, op)
)
SELECT
    log_id, layer, file_id, op, COALESCE(is_beneath_mpiio, FALSE) AS is_beneath_mpiio,
    TRY_CAST(request_count AS BIGINT) AS request_count, TRY_CAST(moved_bytes AS BIGINT) AS moved_bytes,
    TRY_CAST(asked_bytes AS BIGINT) AS asked_bytes, TRY_CAST(touched_bytes AS BIGINT) AS touched_bytes,
    TRY_CAST(CASE WHEN had_bytes < touched_bytes THEN 0 ELSE had_bytes - touched_bytes END AS BIGINT) AS again_bytes,
    again_rank_bytes,
    TRY_CAST(small_count AS BIGINT) AS small_count, TRY_CAST(backward_count AS BIGINT) AS backward_count,
    TRY_CAST(round(misaligned_count) AS BIGINT) AS misaligned_count,
    request_seconds, size_evidence, order_evidence, extent_evidence, night, cluster
FROM timed
