-- ---
-- about = "What forwarders would leave of a log's POSIX requests, for the fewest and the most forwarders, in the shortest window within 10% of the best."
-- grain = ["log_id"]
-- reads = ["core.gathering"]
-- ---
WITH part AS (
    SELECT cluster, night, log_id, op, any_value(request_count) AS request_count
    FROM core.gathering
    GROUP BY ALL
),
way AS (
    SELECT DISTINCT cluster, night, log_id, mapping, forwarder_count, window_seconds
    FROM core.gathering
),
-- Reads and writes together. Reads that cannot be foreseen are all left, as are requests of a direction that a way does not change.
whole AS (
    SELECT
        way.*, COALESCE(row.left_count, part.request_count) AS left_count, part.request_count, row.merge_mode,
        CASE WHEN row.op IS NULL THEN 0 ELSE gathering_core_seconds END AS gathering_core_seconds
    FROM way
    JOIN part USING (cluster, night, log_id)
    LEFT JOIN core.gathering AS row
        ON row.cluster = way.cluster AND row.night = way.night AND row.log_id = way.log_id AND row.op = part.op
        AND row.forwarder_count = way.forwarder_count AND COALESCE(row.window_seconds, 0) = COALESCE(way.window_seconds, 0)
        AND row.merge_mode <> 'at_most'
),
summed AS (
    SELECT
        cluster, night, log_id, mapping, forwarder_count, window_seconds, TRY_CAST(SUM(request_count) AS BIGINT) AS request_count,
        TRY_CAST(SUM(left_count) AS BIGINT) AS left_count, MAX(merge_mode) AS merge_mode,
        CASE WHEN COUNT(gathering_core_seconds) = COUNT(*) THEN list_sum(list_sort(list(gathering_core_seconds))) END
            AS gathering_core_seconds
    FROM whole
    GROUP BY ALL
    HAVING COUNT(merge_mode) > 0
),
near AS (
    SELECT *
    FROM summed
    QUALIFY left_count <= 1.1 * MIN(left_count) OVER (PARTITION BY cluster, night, log_id)
),
shortest AS (
    SELECT *
    FROM near
    QUALIFY COALESCE(window_seconds, 0) = MIN(COALESCE(window_seconds, 0)) OVER (PARTITION BY cluster, night, log_id)
)
SELECT
    log_id, window_seconds, any_value(request_count) AS request_count,
    MIN(forwarder_count) AS forwarder_count, arg_min(left_count, forwarder_count ORDER BY mapping) AS left_count,
    MAX(forwarder_count) AS most_forwarder_count, arg_max(left_count, forwarder_count ORDER BY mapping) AS most_left_count,
    arg_max(mapping, forwarder_count ORDER BY mapping) AS mapping, arg_max(merge_mode, forwarder_count ORDER BY mapping) AS merge_mode,
    any_value(request_count) / arg_max(left_count, forwarder_count ORDER BY mapping) AS gathering_ratio,
    arg_max(gathering_core_seconds, forwarder_count ORDER BY mapping) AS gathering_core_seconds,
    night, cluster
FROM shortest
GROUP BY ALL
