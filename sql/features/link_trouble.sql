-- ---
-- about = "Ten minutes in which a directed link was faulty or congested, and what was wrong."
-- grain = ["cluster", "night", "begin_at", "guid", "port"]
-- reads = ["core.link_interval", "core.link_slot", "core.link_usual", "core.link_span"]
-- ---
-- Ticks of waiting differ in length by device, so a port is compared with its own nights only. The median of two medians is the
-- lower one, so that a bad night does not make half of what is usual.
WITH usual AS (
    SELECT cluster, guid, port, quantile_disc(median_wait_per_word_ratio, 0.5) AS usual_wait_per_word_ratio
    FROM core.link_usual
    GROUP BY ALL
),
counted AS (
    SELECT
        *, epoch(begin_at) AS begin_second, begin_second + interval_seconds AS end_second,
        -- A port that hardly ever waits is not congested because it waited once.
        wait_per_word_ratio / GREATEST(usual_wait_per_word_ratio, 0.01) AS times,
        COALESCE(symbol_error_count, 0)::DOUBLE + COALESCE(rcv_error_count, 0) AS error_count
    FROM core.link_interval
    LEFT JOIN usual USING (cluster, guid, port)
    -- Twenty symbol errors in ten minutes are what the specification allows a link (120 in an hour).
    WHERE interval_seconds BETWEEN 1 AND 86400
        AND (
            error_count > 20 * GREATEST(interval_seconds / 600, 1) OR link_downed_count > 0 OR link_recovery_count > 0
            OR xmit_discard_count > 100 * GREATEST(interval_seconds / 600, 1) OR times >= 10
        )
),
slotted AS (
    SELECT *, unnest(range(TRY_CAST(begin_second // 600 AS BIGINT), TRY_CAST(ceil(end_second / 600) AS BIGINT))) AS slot
    FROM counted
),
ill AS (
    SELECT
        cluster, night, link_id, guid, port, slot,
        TRY_CAST(SUM(symbol_error_count) AS BIGINT) AS symbol_error_count,
        TRY_CAST(SUM(link_recovery_count) AS BIGINT) AS link_recovery_count,
        TRY_CAST(SUM(link_downed_count) AS BIGINT) AS link_downed_count,
        TRY_CAST(SUM(rcv_error_count) AS BIGINT) AS rcv_error_count,
        TRY_CAST(SUM(xmit_discard_count) AS BIGINT) AS xmit_discard_count,
        MAX(wait_per_word_ratio) AS wait_per_word_ratio, MAX(usual_wait_per_word_ratio) AS usual_wait_per_word_ratio,
        MAX(times) AS wait_times_ratio,
        bool_or(error_count > 20 * GREATEST(interval_seconds / 600, 1)) AS has_errors,
        bool_or(xmit_discard_count > 100 * GREATEST(interval_seconds / 600, 1)) AS has_discards
    FROM slotted
    -- An interval belongs to the slot that has most of it.
    WHERE LEAST(end_second, (slot + 1) * 600) - GREATEST(begin_second, slot * 600) >= LEAST(interval_seconds, 600) / 2
    GROUP BY ALL
),
-- A link that comes back with fewer lanes, or slower ones, is up and has no errors.
best AS (
    SELECT cluster, link_id, guid, port, MAX(capacity_bytes_per_second) AS best_bytes_per_second
    FROM core.link_span
    GROUP BY ALL
),
full_slot AS (
    SELECT
        cluster, slot.night, link_id, guid, port, TRY_CAST(epoch(slot.begin_at) // 600 AS BIGINT) AS slot, utilisation_ratio,
        link_class = 'congested' AS is_full,
        CASE
            WHEN capacity_bytes_per_second < 0.99 * best_bytes_per_second THEN capacity_bytes_per_second / best_bytes_per_second
        END AS degraded_ratio
    FROM core.link_slot AS slot
    LEFT JOIN best USING (cluster, link_id, guid, port)
    WHERE is_full OR degraded_ratio IS NOT NULL
),
joined AS (
    SELECT
        COALESCE(ill.cluster, full_slot.cluster) AS cluster, COALESCE(ill.night, full_slot.night) AS night,
        COALESCE(ill.link_id, full_slot.link_id) AS link_id, COALESCE(ill.guid, full_slot.guid) AS guid,
        COALESCE(ill.port, full_slot.port) AS port, COALESCE(ill.slot, full_slot.slot) AS slot,
        ill.* EXCLUDE (cluster, night, link_id, guid, port, slot), utilisation_ratio, is_full, degraded_ratio,
        COALESCE(has_errors OR link_downed_count > 0 OR link_recovery_count > 0 OR has_discards OR degraded_ratio IS NOT NULL, FALSE)
            AS is_faulty,
        -- Waiting at a faulty link is caused by its faults.
        COALESCE(is_full OR (wait_times_ratio >= 10 AND NOT is_faulty), FALSE) AS is_congested
    FROM ill
    FULL JOIN full_slot
        ON full_slot.cluster = ill.cluster AND full_slot.guid = ill.guid AND full_slot.port = ill.port AND full_slot.slot = ill.slot
        AND full_slot.night = ill.night
)
SELECT
    to_timestamp(slot * 600) AS begin_at, link_id, guid, port, is_faulty, is_congested,
    concat_ws(
        ', ',
        CASE WHEN link_downed_count > 0 THEN CASE link_downed_count WHEN 1 THEN 'down once' ELSE format('down {:,} times', link_downed_count) END END,
        CASE WHEN link_recovery_count > 0 THEN CASE link_recovery_count WHEN 1 THEN '1 recovery' ELSE format('{:,} recoveries', link_recovery_count) END END,
        CASE WHEN has_errors AND symbol_error_count > 0 THEN CASE symbol_error_count WHEN 1 THEN '1 symbol error' ELSE format('{:,} symbol errors', symbol_error_count) END END,
        CASE WHEN has_errors AND rcv_error_count > 0 THEN format('{:,} packets received with errors', rcv_error_count) END,
        CASE WHEN has_discards THEN format('{:,} packets discarded', xmit_discard_count) END,
        CASE WHEN degraded_ratio IS NOT NULL THEN format('down to {:.0f}% of its capacity', 100 * degraded_ratio) END,
        CASE WHEN is_full THEN format('{:.0f}% full', 100 * utilisation_ratio) END,
        CASE WHEN wait_times_ratio >= 10 THEN format('data waited {:,.0f} times as long as usual', wait_times_ratio) END
    ) AS trouble,
    utilisation_ratio, symbol_error_count, link_recovery_count, link_downed_count, rcv_error_count, xmit_discard_count,
    wait_per_word_ratio, usual_wait_per_word_ratio, wait_times_ratio, degraded_ratio, night, cluster
FROM joined
-- A moved link has two names in one slot.
QUALIFY row_number() OVER (PARTITION BY cluster, night, guid, port, slot ORDER BY is_faulty DESC, link_id) = 1
