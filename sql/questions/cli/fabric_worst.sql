-- ---
-- about = "Directed links of the last night that was read on which errors were counted, or which were busy: the worst first."
-- parts = []
-- reads = ["core.link_interval"]
-- # NULL for all clusters.
-- parameters = ["cluster", "most_rows"]
-- ---
WITH newest AS (
    SELECT max(night) AS night
    FROM core.link_interval
    WHERE $cluster::VARCHAR IS NULL OR cluster = $cluster::VARCHAR
),
of_link AS (
    SELECT
        guid, port, max(night) AS night,
        (
            COALESCE(sum(link_downed_count), 0) + COALESCE(sum(link_recovery_count), 0) + COALESCE(sum(symbol_error_count), 0)
            + COALESCE(sum(rcv_error_count), 0) + COALESCE(sum(xmit_discard_count), 0)
        )::DOUBLE AS error_count,
        sum(link_downed_count)::DOUBLE AS downed_count,
        max(utilisation_ratio) AS utilisation_ratio,
        sum(xmit_wait_ticks)::DOUBLE / nullif(sum(moved_bytes)::DOUBLE / 4, 0) AS wait_per_word_ratio
    FROM core.link_interval
    WHERE night = (SELECT night FROM newest) AND ($cluster::VARCHAR IS NULL OR cluster = $cluster::VARCHAR) AND guid IS NOT NULL
    GROUP BY guid, port
)
SELECT guid, port, night, error_count, utilisation_ratio, wait_per_word_ratio
FROM of_link
WHERE error_count > 0 OR utilisation_ratio >= 0.5
ORDER BY downed_count DESC NULLS LAST, error_count DESC, utilisation_ratio DESC NULLS LAST, guid, port
LIMIT $most_rows::BIGINT
