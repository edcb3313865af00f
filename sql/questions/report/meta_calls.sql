-- ---
-- about = "Opens and stats of a log by hundredths of the run; those of a file are spread evenly from its first open to its last close."
-- parts = []
-- reads = ["core.log", "core.posix_file", "core.stdio_file"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
WITH wanted AS (
    SELECT log_id, run_seconds
    FROM core.log
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
        AND run_seconds > 0
),
record AS (
    SELECT log_id, open_start_seconds, close_end_seconds, open_count::DOUBLE + coalesce(stat_count, 0) AS call_count
    FROM core.posix_file
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id) AND open_start_seconds > 0
    UNION ALL
    SELECT log_id, open_start_seconds, close_end_seconds, open_count::DOUBLE AS call_count
    FROM core.stdio_file
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id) AND open_start_seconds > 0
),
placed AS (
    SELECT
        log_id, call_count, least(greatest(floor(open_start_seconds / run_seconds * 100), 0), 99)::INT AS first_place,
        greatest(least(floor(close_end_seconds / run_seconds * 100), 99)::INT, first_place) AS last_place
    FROM record
    JOIN wanted USING (log_id)
    WHERE call_count > 0 AND isfinite(open_start_seconds) AND isfinite(close_end_seconds)
),
-- The rate rises where a file's calls begin, and falls after they end.
step AS (
    SELECT log_id, first_place AS place, call_count / (1 + last_place - first_place) AS rise FROM placed
    UNION ALL
    SELECT log_id, last_place + 1 AS place, -call_count / (1 + last_place - first_place) AS rise FROM placed
),
risen AS (
    SELECT log_id, place, sum(rise ORDER BY rise) AS rise FROM step GROUP BY ALL
),
known AS (
    SELECT log_id, sum(call_count) AS call_count FROM placed GROUP BY ALL HAVING sum(call_count) >= 1000
),
counted AS (
    SELECT log_id, place, sum(rise) OVER (PARTITION BY log_id ORDER BY place) AS call_count,
        coalesce(lead(place) OVER (PARTITION BY log_id ORDER BY place), 100) AS next_place
    FROM risen
    SEMI JOIN known USING (log_id)
)
SELECT log_id, any_value(known.call_count) AS call_count, list(place ORDER BY place) AS places,
    list(CASE WHEN counted.call_count < 1e-6 THEN 0 ELSE counted.call_count END ORDER BY place) AS call_counts
FROM counted
JOIN known USING (log_id)
WHERE place < 100
GROUP BY log_id
-- One stretch of evenly spread calls does not show when the calls were.
HAVING count(*) FILTER (counted.call_count > 1e-6) > 1
