-- ---
-- about = "What was moved on an OST, or a whole file system, in ten minutes: by all, as servers count, and by a log, as Darshan does."
-- grain = ["cluster", "night", "filesystem", "ost_id", "owner", "begin_at"]
-- reads = ["core.server_interval", "core.target_fullness", "core.log", "main.files"]
-- ---
-- Slots are those of server_slot; what an interval or a run holds is spread evenly over its slots.
WITH counted AS (
    SELECT
        cluster, night, source_kind, operation, regexp_extract(target, '^(.*)-OST', 1) AS filesystem,
        TRY_CAST('0x' || regexp_extract(target, 'OST([0-9a-fA-F]{4})', 1) AS BIGINT) AS ost_id,
        epoch(begin_at) AS begin_second, begin_second + interval_seconds AS end_second, moved_bytes
    FROM core.server_interval
    WHERE scope = 'target' AND target_kind = 'ost' AND ost_id IS NOT NULL AND moved_bytes IS NOT NULL
        AND interval_seconds > 0 AND interval_seconds <= 86400
),
mounted AS (
    SELECT DISTINCT cluster, mount, regexp_extract(target, '^(.*)-(OST|MDT)', 1) AS filesystem
    FROM core.target_fullness
    WHERE mount <> ''
),
-- If readings have only one file system, and not its mount, it is the mount of type lustre.
only_one AS (
    SELECT cluster, MAX(filesystem) AS filesystem
    FROM (SELECT DISTINCT cluster, filesystem FROM counted)
    GROUP BY cluster
    HAVING COUNT(*) = 1
),
unmounted AS (
    SELECT cluster, filesystem AS unmounted_filesystem
    FROM only_one
    ANTI JOIN mounted USING (cluster, filesystem)
),
of_log AS (
    SELECT
        cluster, night, log_id, COALESCE(filesystem, unmounted_filesystem) AS filesystem, SUM(read_bytes::HUGEINT + write_bytes) AS moved_bytes
    FROM main.files AS files
    LEFT JOIN mounted USING (cluster, mount)
    LEFT JOIN unmounted USING (cluster)
    WHERE read_bytes::HUGEINT + write_bytes > 0 AND (filesystem IS NOT NULL OR (unmounted_filesystem IS NOT NULL AND fs_type = 'lustre'))
    GROUP BY ALL
),
moved AS (
    SELECT *, '' AS owner, '' AS "user"
    FROM counted
    UNION ALL BY NAME
    SELECT
        cluster, night, log_id AS owner, log."user", filesystem, moved_bytes, epoch(start_at) AS begin_second,
        -- Darshan counts whole seconds.
        GREATEST(epoch(end_at), begin_second + 1) AS end_second
    FROM of_log
    JOIN core.log AS log USING (cluster, night, log_id)
    WHERE end_second - begin_second <= 30 * 86400
),
slotted AS (
    SELECT
        *, unnest(range(TRY_CAST(floor(begin_second / 600) AS BIGINT), TRY_CAST(ceil(end_second / 600) AS BIGINT))) AS slot,
        LEAST(end_second, (slot + 1) * 600) - GREATEST(begin_second, slot * 600) AS seconds
    FROM moved
),
per_operation AS (
    SELECT
        cluster, night, owner, "user", filesystem, ost_id, slot, source_kind, operation,
        SUM(moved_bytes * seconds / (end_second - begin_second)) AS bytes, SUM(seconds) AS seconds
    FROM slotted
    GROUP BY ALL
),
per_place AS (
    SELECT
        cluster, night, owner, "user", filesystem, ost_id, slot, SUM(bytes) AS bytes, MAX(seconds) AS seconds
    FROM per_operation
    GROUP BY cluster, night, owner, "user", filesystem, ost_id, slot, source_kind
    -- Several sources may have the same OST.
    QUALIFY row_number() OVER (PARTITION BY cluster, night, owner, filesystem, ost_id, slot ORDER BY source_kind) = 1
),
placed AS (
    SELECT *
    FROM per_place
    UNION ALL BY NAME
    SELECT cluster, night, owner, "user", filesystem, slot, SUM(bytes) AS bytes, AVG(seconds) AS seconds
    FROM per_place
    WHERE ost_id IS NOT NULL
    GROUP BY ALL
)
SELECT
    to_timestamp(slot * 600) AS begin_at, filesystem, ost_id, owner, "user",
    TRY_CAST(round(bytes) AS BIGINT) AS moved_bytes, seconds AS covered_seconds, night, cluster
FROM placed
