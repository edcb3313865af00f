-- ---
-- about = "How fast one OST served a log in one direction, and whether it was slow beside the log's other OSTs."
-- grain = ["log_id", "layer", "ost_id", "op", "evidence"]
-- reads = ["lake.ost_pace"]
-- ---
-- Times for a byte and for a request are both compared, so that an OST that got smaller or larger requests is not slow for that;
-- and of the whole OST as well as of the median rank and file on it, so that a single slow one of these does not make it slow.
WITH paced AS (
    SELECT
        *, request_seconds / NULLIF(moved_bytes, 0) AS per_byte, request_seconds / NULLIF(request_count, 0) AS per_request
    FROM lake.ost_pace
),
-- OSTs and their usual numbers come from one scan: DuckDB computes all nights of a subquery that is read twice.
middle AS (
    SELECT
        cluster, night, log_id, layer, op, evidence, COUNT(*) AS compared_ost_count,
        MEDIAN(per_byte) AS median_per_byte, MEDIAN(per_request) AS median_per_request,
        MEDIAN(typical_seconds_per_byte) AS median_typical_per_byte,
        MEDIAN(typical_seconds_per_request) AS median_typical_per_request,
        -- As with stragglers (log_rank_profile): 1.4826 makes it the standard deviation of a normal distribution.
        1.4826 * mad(per_byte) AS byte_deviation, 1.4826 * mad(per_request) AS request_deviation,
        list({
            ost_id: ost_id, request_count: request_count, moved_bytes: moved_bytes, request_seconds: request_seconds,
            rank_count: rank_count, file_count: file_count, is_comparable: is_comparable,
            typical_seconds_per_byte: typical_seconds_per_byte, typical_seconds_per_request: typical_seconds_per_request,
            per_byte: per_byte, per_request: per_request
        }) AS osts
    FROM paced
    GROUP BY ALL
),
held AS (SELECT * EXCLUDE (osts), unnest(osts, recursive := true) FROM middle),
compared AS (
    SELECT
        *,
        -- LEAST ignores NULL, and an unknown number must not make an OST slow.
        CASE
            WHEN median_per_byte > 0 AND median_per_request > 0 AND per_byte IS NOT NULL
            THEN LEAST(per_byte / median_per_byte, per_request / median_per_request)
        END AS slowness_ratio,
        CASE
            WHEN median_typical_per_byte > 0 AND median_typical_per_request > 0 AND typical_seconds_per_byte IS NOT NULL
            THEN LEAST(
                slowness_ratio, typical_seconds_per_byte / median_typical_per_byte,
                typical_seconds_per_request / median_typical_per_request
            )
        END AS typical_slowness_ratio,
        request_seconds - GREATEST(moved_bytes * median_per_byte, request_count * median_per_request) AS beyond_median_seconds,
        -- OSTs that differ in age and fullness are less than 3 times apart; 3.5 deviations: Iglewicz and Hoaglin 1993.
        typical_slowness_ratio > 3 AND per_byte - median_per_byte > 3.5 * byte_deviation
            AND per_request - median_per_request > 3.5 * request_deviation
            -- A lock or a commit holds up all ranks of an OST for a second or so at once, which makes no slow OST.
            AND beyond_median_seconds > 5 * rank_count::HUGEINT AS stands_out
    FROM held
)
SELECT
    log_id, layer, ost_id, op, evidence, request_count, moved_bytes, request_seconds, rank_count, file_count, is_comparable,
    typical_seconds_per_byte, typical_seconds_per_request, compared_ost_count, slowness_ratio, beyond_median_seconds,
    -- Among three OSTs none can be out of line: one is already a third of them.
    CASE WHEN compared_ost_count >= 4 AND (is_comparable OR NOT stands_out) THEN stands_out END AS is_slow, night, cluster
FROM compared
