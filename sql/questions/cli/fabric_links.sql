-- ---
-- about = "What was read of the fabric: rows of fabric_link, from a night on."
-- parts = []
-- reads = ["core.fabric_link"]
-- # NULL for all clusters.
-- parameters = ["first_night", "cluster"]
-- ---
SELECT
    sampled_at, link_id, guid, port, peer_guid, peer_port, lanes, speed, capacity_bytes_per_second, is_up, port_guid,
    peer_port_guid
FROM core.fabric_link
WHERE night >= $first_night::DATE AND ($cluster::VARCHAR IS NULL OR cluster = $cluster::VARCHAR)
