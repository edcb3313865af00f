-- ---
-- about = "POSIX requests of a log in one direction, over all its mounts, that a way to gather would leave; only groups that some way changes."
-- grain = ["log_id", "op", "forwarder_count", "window_seconds"]
-- reads = ["core.coalescing"]
-- ---
WITH part AS (
    SELECT
        cluster, night, log_id, op, mount, access, any_value(request_count) AS request_count,
        any_value(request_mean_bytes) AS request_mean_bytes, any_value(stripe_client_count) AS stripe_client_count
    FROM core.coalescing
    WHERE layer = 'posix'
    GROUP BY ALL
),
way AS (
    SELECT DISTINCT cluster, night, log_id, op, mapping, forwarder_count, window_seconds
    FROM core.coalescing
    WHERE layer = 'posix'
),
-- A group that a way does not change has no row of it.
found AS (
    SELECT
        way.*, part.request_count, COALESCE(left_count, part.request_count) AS left_count,
        COALESCE(left_count * left_mean_bytes::HUGEINT, part.request_count * part.request_mean_bytes::HUGEINT) AS left_bytes,
        part.stripe_client_count, COALESCE(left_stripe_client_count, part.stripe_client_count) AS left_stripe_client_count,
        held_bytes, merge_mode, CASE WHEN merge_mode IS NULL THEN 0 ELSE gathering_core_seconds END AS saved_seconds
    FROM way
    JOIN part USING (cluster, night, log_id, op)
    LEFT JOIN core.coalescing AS row
        ON row.cluster = way.cluster AND row.night = way.night AND row.log_id = way.log_id AND row.op = way.op AND layer = 'posix'
        AND COALESCE(row.mount, '') = COALESCE(part.mount, '') AND row.access = part.access AND row.forwarder_count = way.forwarder_count
        AND COALESCE(row.window_seconds, 0) = COALESCE(way.window_seconds, 0)
)
SELECT
    log_id, op, mapping, forwarder_count, window_seconds,
    CASE WHEN bool_or(merge_mode = 'at_most') THEN 'at_most' ELSE min(merge_mode) END AS merge_mode,
    TRY_CAST(SUM(request_count) AS BIGINT) AS request_count, TRY_CAST(SUM(left_count) AS BIGINT) AS left_count,
    SUM(request_count) / SUM(left_count) AS gathering_ratio,
    TRY_CAST(round(SUM(left_bytes) / SUM(left_count)) AS BIGINT) AS left_mean_bytes,
    TRY_CAST(SUM(stripe_client_count) AS BIGINT) AS stripe_client_count, TRY_CAST(SUM(left_stripe_client_count) AS BIGINT) AS left_stripe_client_count,
    MAX(held_bytes) AS held_bytes,
    -- If the cost of some requests is not known, the sum is not known.
    CASE WHEN COUNT(saved_seconds) = COUNT(*) THEN list_sum(list_sort(list(saved_seconds))) END AS gathering_core_seconds,
    night, cluster
FROM found
GROUP BY ALL
