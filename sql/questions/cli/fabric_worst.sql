-- ---
-- about = "Directed links with errors, or busy ones, of the last day of which ports were read: the worst first."
-- parts = []
-- reads = ["core.link_interval"]
-- # NULL for all clusters.
-- parameters = ["cluster", "most_rows"]
-- ---
WITH newest AS (
    SELECT max(night) - 1 AS first_night, max(begin_at) AS last_at, max(begin_at) - INTERVAL 1 DAY AS first_at
    FROM core.link_interval
    WHERE $cluster::VARCHAR IS NULL OR cluster = $cluster::VARCHAR
),
of_link AS (
    SELECT
        guid, port,
        (
            COALESCE(sum(link_downed_count), 0) + COALESCE(sum(link_recovery_count), 0) + COALESCE(sum(symbol_error_count), 0)
            + COALESCE(sum(rcv_error_count), 0) + COALESCE(sum(xmit_discard_count), 0)
        )::DOUBLE AS error_count,
        sum(link_downed_count)::DOUBLE AS downed_count,
        max(utilisation_ratio) AS utilisation_ratio,
        sum(xmit_wait_ticks)::DOUBLE / nullif(sum(moved_bytes)::DOUBLE / 4, 0) AS wait_per_word_ratio
    FROM core.link_interval
    WHERE night >= (SELECT first_night FROM newest) AND begin_at > (SELECT first_at FROM newest) AND guid IS NOT NULL
        AND ($cluster::VARCHAR IS NULL OR cluster = $cluster::VARCHAR)
    GROUP BY guid, port
)
SELECT guid, port, (SELECT last_at FROM newest) AS last_at, error_count, utilisation_ratio, wait_per_word_ratio
FROM of_link
WHERE error_count > 0 OR utilisation_ratio >= 0.5
ORDER BY downed_count DESC NULLS LAST, error_count DESC, utilisation_ratio DESC NULLS LAST, guid, port
LIMIT $most_rows::BIGINT
