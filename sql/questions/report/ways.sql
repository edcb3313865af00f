-- ---
-- about = "Between which switches, nodes and servers the bytes of each log moved, those between which most first; nodes of a switch are one."
-- parts = []
-- reads = ["core.job_link", "core.fabric_link", "core.fabric_node", "core.fabric_layout"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
WITH moved AS (
    SELECT
        log_id, night, link_id, bool_or(is_host_link) AS is_host_link, bool_or(is_server_link) AS is_server_link,
        coalesce(sum(moved_bytes) FILTER (op = 'read'), 0)::DOUBLE AS read_bytes,
        coalesce(sum(moved_bytes) FILTER (op = 'write'), 0)::DOUBLE AS write_bytes
    FROM core.job_link
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
    GROUP BY ALL
),
-- The first reading holds before it was made too.
dated AS (
    SELECT *, greatest((night + 1)::TIMESTAMPTZ, (SELECT min(sampled_at) FROM core.fabric_link WHERE cluster = $cluster)) AS until
    FROM moved
),
link AS (SELECT link_id, sampled_at, guid, peer_guid FROM core.fabric_link WHERE cluster = $cluster),
device AS (
    SELECT
        fabric_node.guid, fabric_node.sampled_at, coalesce(host, left(description, 100)) AS device, tier, x, y,
        node_kind IN ('switch', 'router') AS is_switch
    FROM core.fabric_node
    LEFT JOIN core.fabric_layout
        ON fabric_layout.cluster = fabric_node.cluster AND fabric_layout.sampled_at = fabric_node.sampled_at
        AND fabric_layout.guid = fabric_node.guid
    WHERE fabric_node.cluster = $cluster
),
ended AS (
    SELECT dated.*, link.guid, link.peer_guid
    FROM dated
    ASOF JOIN link ON dated.link_id = link.link_id AND dated.until >= link.sampled_at
),
begun AS (
    SELECT
        ended.*, device.device, device.tier, device.x, device.y, device.is_switch
    FROM ended
    ASOF JOIN device ON ended.guid = device.guid AND ended.until >= device.sampled_at
),
both_ends AS (
    SELECT
        begun.*, device.device AS peer_device, device.tier AS peer_tier, device.x AS peer_x, device.y AS peer_y,
        device.is_switch AS is_peer_switch
    FROM begun
    ASOF JOIN device ON begun.peer_guid = device.guid AND begun.until >= device.sampled_at
),
-- If one end of a link is not a switch, the switch comes first.
ordered AS (
    SELECT
        log_id, read_bytes, write_bytes,
        CASE
            WHEN is_switch AND is_peer_switch THEN 'switch'
            WHEN is_server_link THEN 'server'
            WHEN is_host_link THEN 'nodes'
            ELSE 'device'
        END AS peer_kind,
        if(is_switch, guid, peer_guid) AS guid, if(is_switch, device, peer_device) AS device, if(is_switch, tier, peer_tier) AS tier,
        if(is_switch, x, peer_x) AS x, if(is_switch, y, peer_y) AS y, if(is_switch, peer_guid, guid) AS peer_guid,
        if(is_switch, peer_device, device) AS peer_device, if(is_switch, peer_tier, tier) AS peer_tier,
        if(is_switch, peer_x, x) AS peer_x, if(is_switch, peer_y, y) AS peer_y
    FROM both_ends
),
summed AS (
    SELECT
        log_id, guid, any_value(device) AS device, any_value(tier) AS tier, any_value(x) AS x, any_value(y) AS y, peer_kind,
        if(peer_kind = 'nodes', NULL, peer_guid) AS peer, any_value(peer_device) AS peer_device, any_value(peer_tier) AS peer_tier,
        any_value(peer_x) AS peer_x, any_value(peer_y) AS peer_y, count(DISTINCT peer_guid) AS device_count, count(*) AS link_count,
        sum(read_bytes) AS read_bytes, sum(write_bytes) AS write_bytes
    FROM ordered
    GROUP BY log_id, guid, peer_kind, peer
)
SELECT
    log_id, guid, device, tier, x, y, peer_kind, peer AS peer_guid, if(peer_kind = 'nodes', NULL, peer_device) AS peer_device,
    peer_tier, peer_x, peer_y, if(peer_kind = 'nodes', device_count, NULL) AS node_count, link_count, read_bytes, write_bytes
FROM summed
QUALIFY row_number() OVER (PARTITION BY log_id ORDER BY read_bytes + write_bytes DESC, guid, peer) <= 400
ORDER BY read_bytes + write_bytes DESC, guid, peer
