-- ---
-- about = "The sixteen OSTs of a log to look at first: slow ones, then those that took most time; I/O without a known OST is always there."
-- parts = []
-- reads = ["core.ost_pace", "main.ost_io"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
WITH pace AS (
    SELECT
        log_id, ost_id, bool_or(is_slow) AS is_slow, sum(beyond_median_seconds) FILTER (is_slow) AS beyond_seconds,
        arg_max(slowness_ratio, beyond_median_seconds) AS slowness_ratio
    FROM core.ost_pace
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id) AND layer = 'posix'
    GROUP BY ALL
),
per_ost AS (
    SELECT
        log_id, ost_id, any_value(evidence) AS evidence, any_value(reason) AS reason,
        -- A direction without a row moved nothing; one whose bytes are not known stays so.
        if(count(*) FILTER (WHERE op = 'read') = 0, 0, sum(moved_bytes::DOUBLE) FILTER (WHERE op = 'read')) AS read_bytes,
        if(count(*) FILTER (WHERE op = 'write') = 0, 0, sum(moved_bytes::DOUBLE) FILTER (WHERE op = 'write')) AS write_bytes,
        sum(moved_bytes::DOUBLE) AS moved_bytes, sum(request_seconds) AS request_seconds
    FROM main.ost_io
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id) AND layer = 'posix'
    GROUP BY ALL
)
SELECT
    * EXCLUDE (is_slow, beyond_seconds), coalesce(is_slow, false) AS is_slow, count(ost_id) OVER log AS log_ost_count,
    row_number() OVER (
        PARTITION BY log_id
        ORDER BY ost_id IS NULL DESC, beyond_seconds DESC NULLS LAST, request_seconds DESC NULLS LAST, moved_bytes DESC, ost_id
    ) AS place
FROM per_ost
LEFT JOIN pace USING (log_id, ost_id)
WINDOW log AS (PARTITION BY log_id)
QUALIFY place <= 16
ORDER BY place
