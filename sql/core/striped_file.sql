-- ---
-- about = "A file on Lustre that a log moved data of: over how many OSTs it is striped, who shares it, and whether that suits it."
-- grain = ["log_id", "file_id"]
-- reads = ["core.log", "core.lustre_component", "core.posix_file", "core.waited_file"]
-- ---
WITH layout AS (
    -- Components of a file take turns over its length; the one with most OSTs bounds how wide it can go. A component that
    -- nothing was written to yet has no OSTs.
    SELECT
        cluster, night, log_id, file_id, MAX(stripe_count) AS stripe_count,
        -- The smallest of several components with as many OSTs. An ordered aggregate would sort the components of each file.
        (-(MAX({stripe_count: stripe_count, below: -(stripe_bytes::HUGEINT)}) FILTER (stripe_bytes IS NOT NULL)).below)::BIGINT
            AS stripe_bytes
    FROM core.lustre_component
    WHERE stripe_count > 0 AND len(ost_ids) > 0
    GROUP BY ALL
),
posix AS (
    SELECT
        cluster, night, log_id, file_id,
        -- DuckDB counts the distinct of short lists in half the time that its COUNT(DISTINCT) takes.
        list_unique(list(rank))::BIGINT AS record_count,
        bool_or(is_shared) AS has_shared_record, has_shared_record OR record_count > 1 AS has_many_ranks,
        SUM(read_bytes::HUGEINT + write_bytes) AS moved_bytes,
        SUM(read_seconds + write_seconds) AS seconds, SUM(read_seconds + write_seconds + meta_seconds) AS all_seconds,
        CASE WHEN bool_and((COALESCE(read_bytes, 0) = 0 OR max_read_offset_bytes IS NOT NULL)
            AND (COALESCE(write_bytes, 0) = 0 OR max_write_offset_bytes IS NOT NULL))
            THEN GREATEST(MAX(max_read_offset_bytes), MAX(max_write_offset_bytes))::HUGEINT + 1 END AS extent_bytes
    FROM core.posix_file
    GROUP BY ALL
),
striped AS (
    SELECT
        posix.*, stripe_count, stripe_bytes, nprocs, CASE WHEN has_shared_record THEN nprocs ELSE record_count END AS rank_count,
        has_many_ranks AND nprocs > 1 AS is_shared, COALESCE(held_seconds, 0) AS held_seconds
    FROM posix
    JOIN layout USING (cluster, night, log_id, file_id)
    JOIN (SELECT cluster, night, log_id, nprocs FROM core.log) AS log USING (cluster, night, log_id)
    LEFT JOIN (SELECT cluster, night, log_id, file_id, held_seconds FROM core.waited_file) AS waited USING (cluster, night, log_id, file_id)
    WHERE moved_bytes > 0
),
flagged AS (
    SELECT
        -- One OST keeps up with two or three ranks, such as the one that wrote a file and the other that reads it back.
        *, is_shared AND rank_count >= 4 AND stripe_count = 1 AS is_on_one_ost,
        stripe_count > 1 AND stripe_count > ceil(extent_bytes / stripe_bytes) AS is_overstriped,
        MAX(moved_bytes) FILTER (is_on_one_ost) OVER of_log AS most_on_one_ost,
        MAX(moved_bytes) FILTER (is_shared) OVER of_log AS most_shared,
        arg_max(stripe_count, moved_bytes ORDER BY file_id) FILTER (is_shared) OVER of_log AS stripes_of_most_shared
    FROM striped
    WINDOW of_log AS (PARTITION BY cluster, night, log_id)
)
SELECT
    log_id, file_id, stripe_count, stripe_bytes, is_shared, rank_count, TRY_CAST(moved_bytes AS BIGINT) AS moved_bytes, seconds AS request_seconds, held_seconds,
    all_seconds AS io_core_seconds, is_overstriped,
    -- Statements about the largest file also hold for files with a tenth of its size or more.
    COALESCE(is_on_one_ost AND moved_bytes >= most_on_one_ost / 10, FALSE) AS is_on_one_ost,
    COALESCE(is_shared AND moved_bytes >= most_shared / 10 AND stripe_count <= stripes_of_most_shared, FALSE) AS is_on_few_osts,
    night, cluster
FROM flagged
