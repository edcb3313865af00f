-- ---
-- about = "What a log moved on a target in one direction, by its layouts or by job_stats; and what it moved on unknown targets."
-- grain = ["log_id", "op", "target", "target_evidence"]
-- reads = [
--     "core.log", "core.ost_io", "core.file_name", "core.fabric_name", "core.target_fullness", "core.server_interval",
-- ]
-- ---
WITH known AS (
    SELECT cluster, regexp_extract(name, '^(.*)-OST', 1) AS filesystem
    FROM core.fabric_name
    WHERE name_kind = 'target' AND filesystem <> ''
    UNION
    SELECT cluster, regexp_extract(target, '^(.*)-OST', 1) AS filesystem
    FROM core.server_interval
    WHERE target_kind = 'ost' AND filesystem <> ''
),
only_one AS (
    SELECT cluster, MAX(filesystem) AS only_filesystem
    FROM known
    GROUP BY cluster
    HAVING COUNT(*) = 1
),
-- An index identifies an OST on one file system only.
of_log AS (
    SELECT cluster, night, log_id, MAX(filesystem) AS log_filesystem
    FROM core.file_name
    JOIN (
        SELECT DISTINCT cluster, mount, regexp_extract(target, '^(.*)-(OST|MDT)', 1) AS filesystem
        FROM core.target_fullness
        WHERE mount <> ''
    ) USING (cluster, mount)
    JOIN known USING (cluster, filesystem)
    GROUP BY cluster, night, log_id
    HAVING COUNT(DISTINCT filesystem) = 1
),
laid AS (
    SELECT cluster, night, log_id, op, ost_id, TRY_CAST(SUM(moved_bytes) AS BIGINT) AS moved_bytes
    FROM core.ost_io
    WHERE moved_bytes > 0
    GROUP BY ALL
),
placed AS (
    SELECT
        cluster, night, log_id, op, moved_bytes,
        COALESCE(log_filesystem, only_filesystem) || format('-OST{:04x}', ost_id) AS target
    FROM laid
    LEFT JOIN of_log USING (cluster, night, log_id)
    LEFT JOIN only_one USING (cluster)
    WHERE moved_bytes > 0 AND ost_id >= 0
),
direction AS (
    SELECT
        cluster, night, log_id, job_id, start_at, end_at, unnest(['read', 'write']) AS op, unnest([read_bytes, write_bytes]) AS log_bytes
    FROM core.log
),
-- Bytes of layers without layouts are in no OST's sum.
rest AS (
    SELECT
        cluster, night, log_id, job_id, start_at, end_at, op,
        TRY_CAST(log_bytes - COALESCE(SUM(moved_bytes) FILTER (target IS NOT NULL), 0) AS BIGINT) AS moved_bytes
    FROM direction
    LEFT JOIN placed USING (cluster, night, log_id, op)
    GROUP BY cluster, night, log_id, job_id, start_at, end_at, op, log_bytes
    HAVING moved_bytes > 0
),
asked AS (
    SELECT cluster, rest.night, log_id, op, target, rest.moved_bytes, SUM(counted.moved_bytes)::DOUBLE AS target_bytes
    FROM rest
    JOIN core.server_interval AS counted USING (cluster, job_id)
    WHERE job_id <> '' AND scope = 'job' AND target_kind = 'ost' AND operation = op AND counted.moved_bytes > 0
        AND begin_at <= end_at AND epoch(begin_at) + interval_seconds >= epoch(start_at)
    GROUP BY ALL
),
-- Shares are rounded so that they add up.
upto AS (
    SELECT
        *, SUM(target_bytes) OVER (own ORDER BY target) AS reach, SUM(target_bytes) OVER own AS all_bytes,
        TRY_CAST(round(moved_bytes * (reach / all_bytes)) AS BIGINT) AS end_bytes
    FROM asked
    WINDOW own AS (PARTITION BY cluster, night, log_id, op)
),
counted AS (
    SELECT
        cluster, night, log_id, op, target,
        end_bytes - COALESCE(LAG(end_bytes) OVER (PARTITION BY cluster, night, log_id, op ORDER BY target), 0) AS moved_bytes
    FROM upto
)
SELECT log_id, op, target, moved_bytes, 'ost_io' AS target_evidence, night, cluster
FROM placed
WHERE target IS NOT NULL
UNION ALL
SELECT log_id, op, target, moved_bytes, 'lustre_jobs' AS target_evidence, night, cluster
FROM counted
WHERE moved_bytes > 0
UNION ALL
SELECT log_id, op, NULL AS target, moved_bytes, NULL AS target_evidence, night, cluster
FROM rest
ANTI JOIN asked USING (cluster, night, log_id, op)
