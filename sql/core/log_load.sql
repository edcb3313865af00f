-- ---
-- about = "What others moved meanwhile on a log's OSTs, or on its whole file system if its OSTs are not known, and how full these were."
-- grain = ["log_id"]
-- reads = ["core.log", "core.ost_io", "core.traffic_slot", "core.target_fullness"]
-- ---
-- A file system as a whole has index -1.
WITH load AS (
    SELECT
        cluster, filesystem, COALESCE(ost_id, -1) AS ost_id, begin_at, SUM(covered_seconds) AS seconds,
        SUM(moved_bytes) / SUM(covered_seconds) AS rate
    FROM core.traffic_slot
    WHERE owner = ''
    GROUP BY ALL
),
-- The user's other logs do not count as others.
run AS (
    SELECT
        cluster, filesystem, begin_at, owner AS log_id, CASE WHEN "user" = '' THEN owner ELSE "user" END AS who, moved_bytes,
        covered_seconds AS seconds
    FROM core.traffic_slot
    WHERE owner <> ''
),
-- An index identifies an OST on one file system only. A log on many OSTs depends on the file system as a whole.
one AS (
    SELECT cluster, log_id
    FROM run
    GROUP BY ALL
    HAVING COUNT(DISTINCT filesystem) = 1
),
ost AS (
    SELECT cluster, log_id, ost_id, SUM(moved_bytes) / SUM(SUM(moved_bytes)) OVER (PARTITION BY cluster, log_id) AS part
    FROM core.ost_io
    SEMI JOIN one USING (cluster, log_id)
    WHERE ost_id IS NOT NULL AND moved_bytes > 0
    GROUP BY cluster, log_id, ost_id
    QUALIFY COUNT(*) OVER (PARTITION BY cluster, log_id) <= 16
),
used AS (
    SELECT
        cluster, night, log_id, filesystem, COALESCE(ost_id, -1) AS ost_id, begin_at,
        CASE WHEN ost_id IS NULL THEN who ELSE log_id END AS who, moved_bytes * COALESCE(part, 1) AS moved_bytes, seconds
    FROM run
    JOIN (SELECT cluster, night, log_id FROM core.log) AS log USING (cluster, log_id)
    LEFT JOIN ost USING (cluster, log_id)
),
own AS (
    SELECT cluster, filesystem, -1 AS ost_id, begin_at, who, moved_bytes, seconds
    FROM run
    UNION ALL
    SELECT cluster, filesystem, ost_id, begin_at, who, moved_bytes, seconds
    FROM used
    WHERE ost_id >= 0
),
met AS (
    SELECT
        cluster, filesystem, ost_id, begin_at, who, rate,
        -- If readings cover only a part of a slot, that part is taken to be the run's.
        LEAST(rate, SUM(own.moved_bytes / GREATEST(own.seconds, load.seconds))) AS own_rate, rate - own_rate AS others_rate
    FROM own
    JOIN load USING (cluster, filesystem, ost_id, begin_at)
    GROUP BY cluster, filesystem, ost_id, begin_at, who, rate
),
-- How many slots of the place have a lower rate; at the same rate, slots come after the log's own.
ranked AS (
    SELECT
        *, SUM(is_slot) OVER (place ORDER BY others_rate, is_slot ROWS UNBOUNDED PRECEDING) AS less_count,
        SUM(is_slot) OVER place AS slot_count
    FROM (
        SELECT cluster, filesystem, ost_id, rate AS others_rate, 1 AS is_slot
        FROM load
        UNION ALL BY NAME
        SELECT *, 0 AS is_slot
        FROM met
        SEMI JOIN used USING (cluster, filesystem, ost_id, begin_at, who)
    )
    WINDOW place AS (PARTITION BY cluster, filesystem, ost_id)
),
-- Others moved less in these slots, and in those where only the user's own bytes raised the sum of all.
stood AS (
    SELECT
        cluster, filesystem, ost_id, ranked.begin_at, who, ranked.rate, ranked.own_rate, slot_count,
        less_count + COUNT(*) FILTER (past.others_rate < ranked.others_rate AND past.rate >= ranked.others_rate) AS others_less_count
    FROM ranked
    JOIN met AS past USING (cluster, filesystem, ost_id, who)
    WHERE is_slot = 0
    GROUP BY cluster, filesystem, ost_id, ranked.begin_at, who, ranked.rate, ranked.own_rate, slot_count, less_count
),
target AS (
    SELECT
        cluster, night, regexp_extract(target, '^(.*)-OST', 1) AS filesystem, used_bytes / capacity_bytes AS full_ratio,
        unnest([-1, TRY_CAST('0x' || regexp_extract(target, 'OST([0-9a-fA-F]{4})', 1) AS BIGINT)]) AS ost_id
    FROM core.target_fullness
    WHERE capacity_bytes > 0 AND target_kind = 'ost'
),
fullness AS (
    SELECT cluster, night, filesystem, ost_id, MAX(full_ratio) AS full_ratio
    FROM target
    GROUP BY ALL
)
SELECT
    log_id, NULLIF(COUNT(DISTINCT ost_id) FILTER (ost_id >= 0), 0) AS target_count,
    SUM(own_rate) / NULLIF(SUM(rate), 0) AS own_bytes_ratio,
    -- Half of its slots and OSTs were at least as loaded: one burst of its own, or one quiet OST, does not count. Among fewer
    -- than 30 slots the top 5% are chance.
    MEDIAN(100 * others_less_count / slot_count) FILTER (slot_count >= 30) AS load_percentile,
    MAX(full_ratio) AS fullest_ratio, night, cluster
FROM used
LEFT JOIN stood USING (cluster, filesystem, ost_id, begin_at, who)
LEFT JOIN fullness USING (cluster, night, filesystem, ost_id)
GROUP BY log_id, night, cluster
