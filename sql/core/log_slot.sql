-- ---
-- about = "How much of a log's I/O in one direction lies in ten minutes: as its phases say, evenly over its run where there are none."
-- grain = ["log_id", "op", "begin_at"]
-- reads = ["core.log", "core.phase"]
-- ---
WITH run AS (
    SELECT
        cluster, night, log_id, epoch(start_at) AS start_second,
        -- Darshan counts whole seconds.
        GREATEST(epoch(end_at), start_second + 1) AS end_second
    FROM core.log
    WHERE isfinite(start_at) AND isfinite(end_at) AND epoch(end_at) - epoch(start_at) <= 30 * 86400
),
phased AS (
    SELECT
        cluster, night, log_id, unnest(['read', 'write']) AS op, unnest([read_bytes, write_bytes]) AS weight,
        start_second + GREATEST(phase.start_seconds, 0) AS begin_second,
        LEAST(start_second + phase.end_seconds, run.end_second) AS finish_second
    FROM core.phase AS phase
    JOIN run USING (cluster, night, log_id)
    WHERE layer = 'all'
),
stretch AS (
    SELECT cluster, night, log_id, op, weight, begin_second, GREATEST(finish_second, begin_second + 1e-6) AS finish_second
    FROM phased
    WHERE weight > 0 AND isfinite(begin_second) AND isfinite(finish_second) AND finish_second >= begin_second
),
held AS (
    SELECT *
    FROM stretch
    UNION ALL
    SELECT cluster, night, log_id, op, 1 AS weight, start_second, end_second
    FROM (SELECT *, unnest(['read', 'write']) AS op FROM run)
    ANTI JOIN stretch USING (cluster, night, log_id, op)
),
slotted AS (
    SELECT
        *, unnest(range(TRY_CAST(floor(begin_second / 600) AS BIGINT), TRY_CAST(ceil(finish_second / 600) AS BIGINT))) AS slot,
        weight * ((LEAST(finish_second, (slot + 1) * 600) - GREATEST(begin_second, slot * 600)) / (finish_second - begin_second)) AS part
    FROM held
),
per_slot AS (
    SELECT cluster, night, log_id, op, slot, SUM(part ORDER BY begin_second) AS part
    FROM slotted
    GROUP BY ALL
)
SELECT
    log_id, op, to_timestamp(slot * 600) AS begin_at, part / SUM(part) OVER (PARTITION BY cluster, night, log_id, op) AS slot_ratio,
    night, cluster
FROM per_slot
