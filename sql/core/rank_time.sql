-- ---
-- about = "How long a rank took in a layer, beside the median rank of its log: whether it is a straggler."
-- grain = ["log_id", "layer", "rank"]
-- reads = ["core.rank_io"]
-- ---
WITH timed AS (
    SELECT
        cluster, night, log_id, layer, rank, host, evidence,
        read_seconds + write_seconds AS seconds,
        (read_seconds + write_seconds) / NULLIF(read_count::HUGEINT + write_count, 0) AS seconds_per_request,
        (read_seconds + write_seconds) / NULLIF(read_bytes::HUGEINT + write_bytes, 0) AS seconds_per_byte
    FROM core.rank_io
    WHERE layer IN ('posix', 'stdio') AND read_seconds + write_seconds > 0
),
-- Ranks and their usual numbers come from one scan: DuckDB computes all nights of a subquery that is read twice.
middle AS (
    SELECT
        cluster, night, log_id, layer, COUNT(*) AS timed_count, MEDIAN(seconds) AS median_seconds,
        MEDIAN(seconds_per_request) AS median_per_request, MEDIAN(seconds_per_byte) AS median_per_byte,
        -- 1.4826 makes the median deviation of a normal distribution its standard deviation (Rousseeuw and Croux 1993).
        1.4826 * mad(seconds_per_request) AS deviation,
        list({
            rank: rank, host: host, evidence: evidence, seconds: seconds, seconds_per_request: seconds_per_request,
            seconds_per_byte: seconds_per_byte
        }) AS ranks
    FROM timed
    GROUP BY ALL
),
held AS (SELECT * EXCLUDE (ranks), unnest(ranks, recursive := true) FROM middle)
SELECT
    log_id, layer, rank, host, evidence, timed_count AS layer_rank_count, seconds AS rank_seconds,
    median_seconds AS median_rank_seconds,
    -- Among three ranks none can be out of line: one is already a third of them.
    CASE WHEN timed_count >= 4 THEN
        LEAST(seconds_per_request / median_per_request, seconds_per_byte / median_per_byte)
    END AS rank_slowdown_ratio,
    -- 3.5 deviations: Iglewicz and Hoaglin 1993. Half as slow again, since on a quiet machine deviations are tiny.
    CASE WHEN rank_slowdown_ratio IS NOT NULL THEN
        rank_slowdown_ratio > 1.5 AND seconds_per_request - median_per_request > 3.5 * deviation
    END AS is_slow_rank,
    night, cluster
FROM held
