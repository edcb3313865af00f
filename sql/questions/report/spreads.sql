-- ---
-- about = "How evenly a log's I/O is spread over ranks and over OSTs: 64 of them by time, or by bytes where times are not known, the busiest first."
-- parts = []
-- reads = ["core.rank_io", "main.ost_io"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
WITH each AS (
    SELECT
        log_id, 'rank' AS spread_over, layer, rank AS number, read_seconds + write_seconds + meta_seconds AS seconds,
        read_bytes::DOUBLE + write_bytes AS moved_bytes
    FROM core.rank_io
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id) AND layer IN ('all', 'posix') AND rank >= 0
    UNION ALL
    SELECT
        log_id, 'ost' AS spread_over, layer, ost_id AS number, list_sum(list_sort(list(request_seconds))) AS seconds,
        sum(moved_bytes::DOUBLE) AS moved_bytes
    FROM main.ost_io
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id) AND layer = 'posix' AND ost_id IS NOT NULL
    GROUP BY ALL
),
-- Times of some ranks cannot be compared with bytes of others, and numbers of some ranks say little if the others are not known.
own AS (
    SELECT
        log_id, spread_over, layer, count(seconds) = count(*) AS is_timed, count(moved_bytes) = count(*) AS is_counted,
        CASE WHEN is_timed THEN median(seconds) WHEN is_counted THEN median(moved_bytes) END AS median_amount
    FROM each
    GROUP BY log_id, spread_over, layer
),
measured AS (
    SELECT *, CASE WHEN is_timed THEN seconds WHEN is_counted THEN moved_bytes END AS amount
    FROM each JOIN own USING (log_id, spread_over, layer)
)
SELECT
    log_id, spread_over, layer, is_timed, count(*) AS spread_count, any_value(median_amount) AS median_amount, max(amount) AS most_amount,
    list_reverse(quantile_disc(amount, [n / 63.0 FOR n IN range(64)])) AS amounts,
    -- As highlights of traces have it: more than twice the median.
    count(*) FILTER (amount > 2 * median_amount) AS outlier_count,
    (list(number ORDER BY amount DESC, number) FILTER (amount > 2 * median_amount))[:3] AS outliers,
    max(amount, 3) FILTER (amount > 2 * median_amount) AS outlier_amounts
FROM measured
WHERE amount IS NOT NULL
GROUP BY log_id, spread_over, layer, is_timed
HAVING count(*) > 1 AND max(amount) > 0 AND bool_and(isfinite(amount))
-- Where a rank's part in some layer is not known, that in POSIX often is.
QUALIFY row_number() OVER (PARTITION BY log_id, spread_over ORDER BY is_timed DESC, layer) = 1
