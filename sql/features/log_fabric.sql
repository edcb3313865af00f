-- ---
-- about = "What one log met with on the links that it depended on: faults, congestion, other traffic; and how far it was scattered."
-- grain = ["log_id"]
-- reads = ["core.job_route", "core.job_link", "core.log_link", "core.link_span"]
-- ---
-- A log depends on a link that carries at least a quarter of its bytes, or all bytes of its stragglers.
WITH route AS (
    SELECT cluster, night, log_id, moved_bytes, routed_bytes, unrouted_reason, leaf_switch_count, same_switch_ratio, tier_count
    FROM core.job_route
),
slots AS (
    SELECT
        cluster, log_id, COUNT(DISTINCT begin_at) AS io_slot_count,
        COUNT(DISTINCT link_id) FILTER (is_host_link) AS host_link_count
    FROM core.job_link
    SEMI JOIN route USING (cluster, log_id)
    WHERE moved_bytes > 0
    GROUP BY ALL
),
heavy AS (
    SELECT
        link.*, slots.io_slot_count AS all_slot_count, COALESCE(link_straggler_ratio >= 0.999999, FALSE) AS has_all_stragglers,
        format('{} port {} - {} port {}', COALESCE(device, guid, link_id), COALESCE(port, 0), COALESCE(peer_device, peer_guid, '?'), COALESCE(peer_port, 0))
            AS named,
        faulty_slot_count / all_slot_count AS faulty_ratio, congested_slot_count / all_slot_count AS congested_ratio,
        collision_slot_count / all_slot_count AS collision_ratio
    FROM core.log_link AS link
    JOIN slots USING (cluster, log_id)
    WHERE link_bytes_ratio >= 0.25 OR has_all_stragglers
),
worst AS (
    SELECT
        cluster, night, log_id, COUNT(*) AS heavy_link_count,
        SUM(counted_slot_count) / NULLIF(SUM(heavy.io_slot_count), 0) AS counted_slot_ratio,
        MAX(faulty_ratio) AS faulty_slot_ratio, MAX(congested_ratio) AS congested_slot_ratio,
        MAX(collision_ratio) AS collision_slot_ratio,
        first(heavy ORDER BY faulty_ratio DESC, link_bytes_ratio DESC, link_id DESC) FILTER (faulty_slot_count > 0) AS faulty,
        -- Traffic that waits for a full link fills the links before it too: the link that others fill most is named.
        first(heavy ORDER BY congested_ratio DESC, link_trouble_own_ratio, link_bytes_ratio DESC, link_id DESC)
            FILTER (congested_slot_count > 0) AS congested,
        first(heavy ORDER BY collision_ratio DESC, link_bytes_ratio DESC, link_id DESC) FILTER (collision_slot_count > 0) AS collision,
        first(heavy ORDER BY faulty_ratio DESC, link_bytes_ratio DESC, link_id DESC)
            FILTER (has_all_stragglers AND faulty_ratio >= 0.5) AS late
    FROM heavy
    GROUP BY cluster, night, log_id
),
-- The common number of hosts of a switch in the topology.
leaf AS (
    SELECT cluster, MEDIAN(host_count) AS hosts_per_leaf
    FROM (
        SELECT cluster, peer_guid, COUNT(DISTINCT guid) AS host_count
        FROM core.link_span
        WHERE held_until_at IS NULL AND node_kind = 'host' AND peer_node_kind = 'switch'
        GROUP BY ALL
    )
    GROUP BY ALL
)
SELECT
    log_id, COALESCE(io_slot_count, 0) AS io_slot_count, COALESCE(heavy_link_count, 0) AS heavy_link_count, counted_slot_ratio,
    CASE
        -- Some bytes of most logs go elsewhere: to a home directory, to a node's own disk.
        WHEN COALESCE(routed_bytes, 0) < 0.9 * moved_bytes
            THEN COALESCE(NULLIF(unrouted_reason, ''), 'More than a tenth of its bytes could not be put onto links.')
        WHEN counted_slot_ratio < 0.5 THEN 'Counters of ports were read in less than half of its I/O.'
    END AS fabric_gap,
    host_link_count, leaf_switch_count,
    leaf_switch_count / ceil(host_link_count / NULLIF(hosts_per_leaf, 0)) AS scatter_ratio, same_switch_ratio, tier_count,
    faulty.named AS faulty_link,
    -- Only counters can show that nothing was wrong.
    CASE WHEN faulty_slot_ratio > 0 OR fabric_gap IS NULL THEN COALESCE(faulty_slot_ratio, 0) END AS faulty_slot_ratio,
    faulty.link_bytes_ratio AS faulty_bytes_ratio, faulty.link_straggler_ratio AS faulty_straggler_ratio, faulty.faulty_trouble,
    faulty.link_others AS faulty_others,
    congested.named AS congested_link,
    CASE WHEN congested_slot_ratio > 0 OR fabric_gap IS NULL THEN COALESCE(congested_slot_ratio, 0) END AS congested_slot_ratio,
    congested.link_bytes_ratio AS congested_bytes_ratio, congested.link_trouble_own_ratio AS congested_own_ratio,
    congested.congested_trouble, congested.link_others AS congested_others,
    collision.named AS collision_link,
    CASE WHEN collision_slot_ratio > 0 OR fabric_gap IS NULL THEN COALESCE(collision_slot_ratio, 0) END AS collision_slot_ratio,
    collision.link_trouble_other_ratio AS collision_other_ratio,
    late.named AS straggler_link, late.faulty_trouble AS straggler_trouble, night, cluster
FROM route
LEFT JOIN slots USING (cluster, log_id)
LEFT JOIN worst USING (cluster, night, log_id)
LEFT JOIN leaf USING (cluster)
