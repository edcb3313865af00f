-- ---
-- about = "What a directed link did in an hour, what was wrong with it, and who moved most there."
-- grain = ["cluster", "night", "begin_at", "link_id", "guid", "port"]
-- reads = ["core.link_slot", "core.link_interval", "core.link_trouble", "core.link_span", "core.job_link", "core.owner_doubt"]
-- ---
WITH slot AS (
    SELECT
        cluster, night, link_id, guid, port, date_trunc('hour', begin_at) AS begin_at,
        TRY_CAST(SUM(counted_bytes) AS BIGINT) AS counted_bytes, TRY_CAST(SUM(storage_bytes) AS BIGINT) AS storage_bytes,
        TRY_CAST(SUM(other_bytes) AS BIGINT) AS other_bytes, SUM(covered_seconds) AS covered_seconds,
        MAX(capacity_bytes_per_second) AS capacity_bytes_per_second, MAX(utilisation_ratio) AS peak_utilisation_ratio
    FROM core.link_slot
    GROUP BY ALL
),
-- An interval belongs to the hour in which its middle lies.
counted AS (
    SELECT
        cluster, link_id, guid, port, date_trunc('hour', begin_at + to_seconds(interval_seconds / 2)) AS begin_at,
        TRY_CAST(SUM(symbol_error_count) AS BIGINT) AS symbol_error_count,
        TRY_CAST(SUM(link_recovery_count) AS BIGINT) AS link_recovery_count,
        TRY_CAST(SUM(link_downed_count) AS BIGINT) AS link_downed_count,
        TRY_CAST(SUM(rcv_error_count) AS BIGINT) AS rcv_error_count,
        TRY_CAST(SUM(xmit_discard_count) AS BIGINT) AS xmit_discard_count, SUM(xmit_wait_ticks) AS xmit_wait_ticks
    FROM core.link_interval
    WHERE interval_seconds BETWEEN 1 AND 86400
    GROUP BY ALL
),
ill AS (
    SELECT
        cluster, link_id, guid, port, date_trunc('hour', begin_at) AS begin_at,
        COUNT(DISTINCT begin_at) FILTER (is_faulty) AS faulty_slot_count,
        COUNT(DISTINCT begin_at) FILTER (is_congested) AS congested_slot_count, MAX(wait_times_ratio) AS wait_times_ratio,
        first(
            trouble
            ORDER BY
                is_faulty DESC, COALESCE(link_downed_count, 0) DESC, COALESCE(symbol_error_count, 0) DESC,
                COALESCE(utilisation_ratio, 0) DESC, begin_at
        ) AS trouble
    FROM core.link_trouble
    GROUP BY ALL
),
mover AS (
    SELECT cluster, guid, port, date_trunc('hour', begin_at) AS begin_at, "user", job_id, log_id, SUM(moved_bytes) AS bytes
    FROM core.job_link
    -- Nobody fills a link by what another wrote.
    ANTI JOIN core.owner_doubt USING (cluster, night, log_id)
    GROUP BY ALL
),
of_user AS (
    SELECT
        cluster, guid, port, begin_at, "user", SUM(bytes) AS bytes, arg_max(job_id, bytes ORDER BY job_id) AS job_id,
        COUNT(DISTINCT CASE WHEN job_id <> '' THEN job_id ELSE log_id END) AS job_count
    FROM mover
    GROUP BY ALL
),
filled AS (
    SELECT
        cluster, guid, port, begin_at, arg_max("user", bytes ORDER BY "user") AS "user",
        arg_max(job_id, bytes ORDER BY "user") AS job_id, TRY_CAST(SUM(job_count) AS BIGINT) AS job_count, MAX(bytes) AS user_bytes
    FROM of_user
    GROUP BY ALL
),
hour AS (
    SELECT
        slot.*, slot.begin_at + INTERVAL 1 HOUR AS end_at, "user", job_id, COALESCE(job_count, 0) AS job_count,
        user_bytes / NULLIF(GREATEST(counted_bytes, storage_bytes), 0) AS link_user_ratio,
        COALESCE(faulty_slot_count, 0) AS faulty_slot_count, COALESCE(congested_slot_count, 0) AS congested_slot_count, trouble,
        wait_times_ratio, counted.* EXCLUDE (cluster, link_id, guid, port, begin_at),
        counted_bytes / NULLIF(capacity_bytes_per_second * covered_seconds, 0) AS utilisation_ratio
    FROM slot
    LEFT JOIN counted USING (cluster, link_id, guid, port, begin_at)
    LEFT JOIN ill USING (cluster, link_id, guid, port, begin_at)
    LEFT JOIN filled USING (cluster, guid, port, begin_at)
)
SELECT
    hour.begin_at, hour.link_id, hour.guid, hour.port, peer_guid, peer_port, COALESCE(device, hour.guid) AS device,
    COALESCE(peer_device, peer_guid) AS peer_device, counted_bytes, storage_bytes, other_bytes, covered_seconds,
    hour.capacity_bytes_per_second, utilisation_ratio,
    CASE
        WHEN utilisation_ratio IS NULL THEN 'unknown'
        WHEN utilisation_ratio < 0.05 THEN 'idle'
        WHEN utilisation_ratio < 0.25 THEN 'light'
        WHEN utilisation_ratio < 0.5 THEN 'good'
        WHEN utilisation_ratio < 0.75 THEN 'busy'
        ELSE 'congested'
    END AS link_class,
    peak_utilisation_ratio, faulty_slot_count, congested_slot_count, trouble, wait_times_ratio, symbol_error_count,
    link_recovery_count, link_downed_count, rcv_error_count, xmit_discard_count, TRY_CAST(xmit_wait_ticks AS BIGINT) AS xmit_wait_ticks,
    job_count, "user", job_id, link_user_ratio, node_kind = 'host' OR peer_node_kind = 'host' AS is_host_end,
    node_kind = 'switch' AND peer_node_kind = 'switch' AS is_between_switches, hour.night, hour.cluster
FROM hour
ASOF LEFT JOIN core.link_span AS span
    ON span.cluster = hour.cluster AND span.link_id = hour.link_id AND span.guid = hour.guid AND span.port = hour.port
    AND span.held_from_at < hour.end_at
