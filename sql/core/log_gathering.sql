-- ---
-- about = "Whether gathering POSIX requests would help a log in one direction: at least four times fewer, or fewer than one and a half times."
-- grain = ["log_id", "op"]
-- reads = ["core.gathering"]
-- ---
WITH kind AS (
    -- Reads that nobody can foresee may be gathered by collective calls, not by holding them.
    SELECT *, window_seconds IS NULL AS is_tick, merge_mode <> 'at_most' AS is_sure
    FROM core.gathering
),
best AS (
    SELECT
        cluster, night, log_id, op, MAX(gathering_ratio) AS most_ratio,
        MAX(gathering_ratio) FILTER (is_tick) AS tick_ratio, MAX(gathering_ratio) FILTER (is_sure AND NOT is_tick) AS held_ratio
    FROM kind
    GROUP BY ALL
),
chosen AS (
    SELECT
        *, CASE WHEN tick_ratio >= 4 THEN 'tick' WHEN held_ratio >= 4 THEN 'held' WHEN most_ratio < 1.5 THEN 'none' END AS choice
    FROM best
)
SELECT
    log_id, op, request_count, left_count, forwarder_count,
    CASE WHEN choice = 'tick' THEN gathering_ratio END AS collective_gathering_ratio,
    CASE WHEN choice = 'held' THEN gathering_ratio END AS buffered_gathering_ratio,
    CASE WHEN choice = 'none' THEN gathering_ratio END AS vain_gathering_ratio,
    night, cluster
FROM chosen
JOIN kind USING (cluster, night, log_id, op)
WHERE CASE choice
    WHEN 'tick' THEN is_tick AND gathering_ratio >= 4
    WHEN 'held' THEN is_sure AND NOT is_tick AND gathering_ratio >= 4
    WHEN 'none' THEN gathering_ratio = most_ratio
END
-- The most forwarders that still help: more forwarders move more at once.
QUALIFY row_number() OVER (PARTITION BY cluster, night, log_id, op ORDER BY forwarder_count DESC, window_seconds NULLS FIRST) = 1
