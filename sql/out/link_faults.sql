-- ---
-- about = "Links that were faulty, or where data waited ten times as long as usual there, from when to when; the worst first."
-- grain = ["cluster", "guid", "port", "begin_at"]
-- reads = ["core.link_trouble", "core.link_span"]
-- ---
-- Up to an hour without traffic does not end what is wrong.
WITH stepped AS (
    SELECT *, COALESCE(epoch(begin_at - LAG(begin_at) OVER port) > 4200, TRUE) AS is_start
    FROM core.link_trouble
    WHERE isfinite(begin_at) AND (is_faulty OR wait_times_ratio >= 10)
    WINDOW port AS (PARTITION BY cluster, link_id, guid, port ORDER BY begin_at)
),
numbered AS (
    SELECT *, COUNT(*) FILTER (is_start) OVER (PARTITION BY cluster, link_id, guid, port ORDER BY begin_at ROWS UNBOUNDED PRECEDING) AS number
    FROM stepped
),
fault AS (
    SELECT
        cluster, MIN(night) AS night, link_id, guid, port, number, MIN(begin_at) AS begin_at,
        MAX(begin_at) + INTERVAL 10 MINUTE AS end_at, bool_or(is_faulty) AS is_faulty,
        COUNT(*) FILTER (is_faulty) AS faulty_slot_count, COUNT(*) AS slots,
        TRY_CAST(SUM(symbol_error_count) AS BIGINT) AS symbol_error_count,
        TRY_CAST(SUM(link_recovery_count) AS BIGINT) AS link_recovery_count,
        TRY_CAST(SUM(link_downed_count) AS BIGINT) AS link_downed_count,
        TRY_CAST(SUM(rcv_error_count) AS BIGINT) AS rcv_error_count,
        TRY_CAST(SUM(xmit_discard_count) AS BIGINT) AS xmit_discard_count,
        MAX(wait_times_ratio) AS wait_times_ratio, MIN(degraded_ratio) AS degraded_ratio,
        MAX(peak.utilisation_ratio) AS peak_utilisation_ratio,
        first(
            trouble
            ORDER BY
                is_faulty DESC, COALESCE(link_downed_count, 0) DESC, COALESCE(symbol_error_count, 0) DESC,
                COALESCE(wait_times_ratio, 0) DESC, begin_at DESC
        ) AS trouble
    FROM numbered AS peak
    GROUP BY ALL
)
SELECT
    COALESCE(device, fault.guid) AS device, fault.port, peer_device, peer_port, fault.begin_at, end_at, trouble, is_faulty, faulty_slot_count, symbol_error_count,
    link_recovery_count, link_downed_count, rcv_error_count, xmit_discard_count, wait_times_ratio, degraded_ratio,
    peak_utilisation_ratio, fault.link_id, fault.guid, peer_guid, fault.night, fault.cluster
FROM fault
ASOF LEFT JOIN core.link_span AS span
    ON span.cluster = fault.cluster AND span.link_id = fault.link_id AND span.guid = fault.guid AND span.port = fault.port
    AND span.held_from_at < fault.end_at
ORDER BY faulty_slot_count DESC, slots DESC, wait_times_ratio DESC NULLS LAST, fault.begin_at, fault.guid, fault.port, fault.cluster
