-- ---
-- about = "A rank that took much longer than the median rank of its log, and its node where that is known."
-- grain = ["log_id", "rank"]
-- reads = ["core.rank_io", "core.log", "core.log_node"]
-- ---
-- By the rule of stragglers in log_rank_profile.
WITH timed AS (
    SELECT
        cluster, night, log_id, layer, rank, host,
        (read_seconds + write_seconds) / NULLIF(read_count::HUGEINT + write_count, 0) AS seconds_per_request,
        (read_seconds + write_seconds) / NULLIF(read_bytes::HUGEINT + write_bytes, 0) AS seconds_per_byte
    FROM core.rank_io
    WHERE layer IN ('posix', 'stdio') AND read_seconds + write_seconds > 0
),
middle AS (
    SELECT
        cluster, night, log_id, layer, COUNT(*) AS timed_count,
        MEDIAN(seconds_per_request) AS median_per_request, MEDIAN(seconds_per_byte) AS median_per_byte,
        1.4826 * mad(seconds_per_request) AS deviation
    FROM timed
    GROUP BY ALL
),
slow AS (
    SELECT cluster, night, log_id, rank, MAX(host) AS host
    FROM timed
    JOIN middle USING (cluster, night, log_id, layer)
    WHERE timed_count >= 4
        AND LEAST(seconds_per_request / median_per_request, seconds_per_byte / median_per_byte) > 1.5
        AND seconds_per_request - median_per_request > 3.5 * deviation
    GROUP BY ALL
),
node AS (
    SELECT cluster, night, log_id, list(host ORDER BY node_number) AS hosts
    FROM core.log_node
    GROUP BY ALL
)
SELECT
    slow.log_id, slow.rank,
    -- Schedulers fill nodes with ranks one after the other.
    COALESCE(slow.host, hosts[TRY_CAST(slow.rank * len(hosts) // nprocs + 1 AS BIGINT)]) AS host, slow.night, slow.cluster
FROM slow
JOIN (SELECT cluster, night, log_id, nprocs FROM core.log WHERE nprocs > 0) AS log USING (cluster, night, log_id)
LEFT JOIN node USING (cluster, night, log_id)
