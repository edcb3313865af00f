-- ---
-- about = "The links of the fabric with the names of both ends, and from when to when each was read to be so."
-- grain = ["cluster", "link_id", "held_from_at"]
-- reads = ["core.link_span"]
-- ---
-- A link is missing where a later reading of one of its ends has it no more, and neither port has another.
SELECT
    link.link_id, link.device, link.guid, link.port, link.peer_device, link.peer_guid, link.peer_port, link.node_kind,
    link.peer_node_kind, link.lanes, link.speed, link.capacity_bytes_per_second, link.is_up,
    link.held_until_at IS NOT NULL AND near.guid IS NULL AND far.guid IS NULL AS is_missing,
    link.held_from_at, link.held_until_at, link.night, link.cluster
FROM core.link_span AS link
LEFT JOIN core.link_span AS near
    ON near.cluster = link.cluster AND near.guid = link.guid AND near.port = link.port AND near.held_from_at = link.held_until_at
LEFT JOIN core.link_span AS far
    ON far.cluster = link.cluster AND far.guid = link.peer_guid AND far.port = link.peer_port AND far.held_from_at = link.held_until_at
WHERE link.link_id = link.guid || '/' || link.port
ORDER BY link.cluster, link.held_from_at, link.device, link.port, link.link_id
