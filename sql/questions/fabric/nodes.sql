-- ---
-- about = "Devices of a fabric as they were at a time, with their places in its picture."
-- parts = ["held"]
-- reads = ["core.fabric_node", "core.fabric_layout"]
-- parameters = ["cluster", "until"]
-- ---
SELECT
    fabric_node.guid, fabric_node.sampled_at, node_kind, left(description, 200) AS description, host, lid, tier, port_count, place, x, y, bundle
FROM core.fabric_node
JOIN held ON held.sampled_at = fabric_node.sampled_at
LEFT JOIN core.fabric_layout
    ON fabric_layout.cluster = fabric_node.cluster AND fabric_layout.sampled_at = fabric_node.sampled_at
    AND fabric_layout.guid = fabric_node.guid
WHERE fabric_node.cluster = $cluster AND fabric_node.guid IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY fabric_node.guid ORDER BY description) = 1
ORDER BY fabric_node.guid
