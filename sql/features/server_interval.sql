-- ---
-- about = "What a target did between two readings, for all or for a job or client: the differences of its counters."
-- grain = ["cluster", "source_kind", "target", "scope", "owner", "operation", "begin_at", "interval_seconds"]
-- reads = ["core.lustre_counter", "core.lustre_rate"]
-- ---
-- The same reading may have come twice, in files that overlap.
WITH reading AS (
    SELECT DISTINCT
        cluster, night, sampled_at, source_kind, target, target_kind, scope, owner, counter, counter_unit,
        sample_count, amount,
        CASE WHEN isfinite(counted_since_at) THEN counted_since_at END AS counted_since_at,
        CASE WHEN isfinite(last_io_at) THEN last_io_at END AS last_io_at
    FROM core.lustre_counter
    -- Times out of range are infinite in DuckDB, which cannot subtract them.
    WHERE target <> '' AND isfinite(sampled_at)
),
counted AS (
    SELECT
        cluster, night, sampled_at, source_kind, target, target_kind, scope, owner,
        CASE counter WHEN 'read_bytes' THEN 'read' WHEN 'write_bytes' THEN 'write' ELSE counter END AS operation,
        SUM(amount) FILTER (counter_unit = 'bytes') AS moved_bytes,
        COALESCE(SUM(sample_count) FILTER (counter LIKE '%\_bytes' ESCAPE '\'), SUM(sample_count))::DOUBLE AS rpc_count,
        SUM(amount) FILTER (counter_unit IN ('usecs', 'usec')) / 1e6 AS service_seconds,
        MIN(counted_since_at) AS counted_since_at,
        MAX(last_io_at) AS last_io_at
    FROM reading
    WHERE counter IS NOT NULL
    GROUP BY ALL
),
-- All readings of a target, with or without owners.
looked AS (
    SELECT *, LAG(sampled_at) OVER target AS previous_at
    FROM (SELECT DISTINCT cluster, source_kind, target, scope, sampled_at FROM reading)
    WINDOW target AS (PARTITION BY cluster, source_kind, target, scope ORDER BY sampled_at)
),
usual AS (
    SELECT cluster, source_kind, target, scope, MEDIAN(epoch(sampled_at - previous_at)) AS usual_seconds
    FROM looked
    GROUP BY ALL
),
stepped AS (
    SELECT
        counted.*, previous_at,
        LAG(sampled_at) OVER own IS NOT DISTINCT FROM previous_at AND previous_at IS NOT NULL AS was_there,
        LAG(moved_bytes) OVER own AS moved_before, LAG(rpc_count) OVER own AS rpcs_before,
        LAG(service_seconds) OVER own AS seconds_before, LAG(counted_since_at) OVER own AS since_before
    FROM counted
    LEFT JOIN looked USING (cluster, source_kind, target, scope, sampled_at)
    WINDOW own AS (PARTITION BY cluster, source_kind, target, scope, owner, operation ORDER BY sampled_at)
),
-- A counter that falls was reset and counts from zero, unless it was so high that it has passed 2^64.
judged AS (
    SELECT
        *,
        was_there AND moved_before >= 9223372036854775808 AND moved_bytes < moved_before / 2 AS has_wrapped,
        NOT was_there
        OR (moved_bytes < moved_before AND NOT has_wrapped) OR rpc_count < rpcs_before OR service_seconds < seconds_before
        OR COALESCE(ABS(epoch(counted_since_at - since_before)) > 1, FALSE) AS is_from_zero,
        CASE WHEN is_from_zero THEN GREATEST(counted_since_at, previous_at) ELSE previous_at END AS begin_at,
        CASE WHEN scope <> 'target' AND last_io_at > begin_at THEN LEAST(sampled_at, last_io_at) ELSE sampled_at END AS end_at
    FROM stepped
),
changed AS (
    SELECT
        judged.*,
        epoch(end_at - begin_at) AS interval_seconds,
        CASE
            WHEN is_from_zero THEN rpc_count ELSE rpc_count - rpcs_before
        END AS rpcs,
        CASE
            WHEN is_from_zero THEN moved_bytes
            ELSE moved_bytes - moved_before + CASE WHEN has_wrapped THEN 18446744073709551616 ELSE 0 END
        END AS moved,
        CASE WHEN is_from_zero THEN service_seconds ELSE service_seconds - seconds_before END AS seconds,
        CASE
            WHEN has_wrapped THEN 'wrapped'
            WHEN was_there AND is_from_zero THEN 'restarted'
            WHEN epoch(sampled_at - previous_at) > 3 * usual_seconds THEN 'gap'
            ELSE 'sound'
        END AS quality
    FROM judged
    LEFT JOIN usual USING (cluster, source_kind, target, scope)
    -- Counts of a whole target before its first reading belong to no interval.
    WHERE scope <> 'target' OR previous_at IS NOT NULL
)
SELECT
    begin_at, interval_seconds, source_kind, target, target_kind, scope, owner, operation,
    TRY_CAST(rpcs AS BIGINT) AS rpc_count, TRY_CAST(moved AS BIGINT) AS moved_bytes, seconds AS service_seconds, quality,
    night, cluster
FROM changed
WHERE scope = 'target' OR rpcs > 0 OR moved > 0 OR seconds > 0
UNION ALL
SELECT
    begin_at, interval_seconds, source_kind, target, target_kind, 'target' AS scope, '' AS owner,
    CASE counter WHEN 'read_bytes' THEN 'read' WHEN 'write_bytes' THEN 'write' ELSE counter END AS operation,
    TRY_CAST(round(SUM(rate * interval_seconds) FILTER (counter_unit <> 'bytes')) AS BIGINT) AS rpc_count,
    TRY_CAST(round(SUM(rate * interval_seconds) FILTER (counter_unit = 'bytes')) AS BIGINT) AS moved_bytes,
    NULL AS service_seconds, 'sound' AS quality, night, cluster
FROM (SELECT DISTINCT * FROM core.lustre_rate) AS rates
GROUP BY ALL
