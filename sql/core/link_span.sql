-- ---
-- about = "A directed link as the topology was read, with the names of both ends, and from when to when that holds."
-- grain = ["cluster", "guid", "port", "held_from_at"]
-- reads = ["core.fabric_link", "core.fabric_node", "core.fabric_name"]
-- ---
WITH directed AS (
    SELECT
        cluster, night, sampled_at, link_id, guid, port, peer_guid, peer_port, lanes, speed, capacity_bytes_per_second, is_up
    FROM core.fabric_link
    UNION ALL
    SELECT
        cluster, night, sampled_at, link_id, peer_guid AS guid, peer_port AS port, guid AS peer_guid, port AS peer_port, lanes,
        speed, capacity_bytes_per_second, is_up
    FROM core.fabric_link
),
-- Inputs of the same moment may name a link twice.
link AS (
    SELECT *
    FROM directed
    WHERE guid <> '' AND peer_guid <> '' AND isfinite(sampled_at)
    QUALIFY row_number() OVER (
        PARTITION BY cluster, guid, port, sampled_at ORDER BY is_up DESC NULLS LAST, capacity_bytes_per_second DESC NULLS LAST, link_id
    ) = 1
),
called AS (
    SELECT cluster, name AS guid, arg_max(alias, sampled_at ORDER BY alias) AS alias
    FROM core.fabric_name
    WHERE name_kind = 'guid'
    GROUP BY ALL
),
node AS (
    SELECT
        cluster, guid, sampled_at, MAX(node_kind) AS node_kind,
        COALESCE(NULLIF(MAX(host), ''), NULLIF(MAX(alias), ''), NULLIF(MAX(description), '')) AS device
    FROM core.fabric_node
    LEFT JOIN called USING (cluster, guid)
    WHERE isfinite(sampled_at)
    GROUP BY ALL
),
reading AS (
    SELECT
        cluster, guid, sampled_at, row_number() OVER device = 1 AS is_first, LEAD(sampled_at) OVER device AS next_at
    FROM (
        SELECT cluster, guid, sampled_at FROM node
        UNION
        SELECT cluster, guid, sampled_at FROM link
    )
    WINDOW device AS (PARTITION BY cluster, guid ORDER BY sampled_at)
)
SELECT
    link_id, link.guid, port, link.peer_guid, peer_port, COALESCE(near.device, link.guid) AS device,
    COALESCE(far.device, link.peer_guid) AS peer_device, near.node_kind, far.node_kind AS peer_node_kind,
    lanes, speed, capacity_bytes_per_second, is_up,
    -- Nothing else is known about the time before the first reading.
    CASE WHEN own.is_first AND other.is_first THEN TIMESTAMPTZ '1970-01-01T00:00:00Z' ELSE link.sampled_at END AS held_from_at,
    LEAST(own.next_at, other.next_at) AS held_until_at, night, link.cluster
FROM link
-- Each link has both readings. Inner joins would let DuckDB pair all devices of a moment first.
LEFT JOIN reading AS own ON own.cluster = link.cluster AND own.guid = link.guid AND own.sampled_at = link.sampled_at
LEFT JOIN reading AS other ON other.cluster = link.cluster AND other.guid = link.peer_guid AND other.sampled_at = link.sampled_at
ASOF LEFT JOIN node AS near ON near.cluster = link.cluster AND near.guid = link.guid AND near.sampled_at <= link.sampled_at
ASOF LEFT JOIN node AS far ON far.cluster = link.cluster AND far.guid = link.peer_guid AND far.sampled_at <= link.sampled_at
