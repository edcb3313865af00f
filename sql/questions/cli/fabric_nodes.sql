-- ---
-- about = "What was read of the fabric: rows of fabric_node, from a night on."
-- parts = []
-- reads = ["core.fabric_node"]
-- # NULL for all clusters.
-- parameters = ["first_night", "cluster"]
-- ---
SELECT
    sampled_at, guid, node_kind, description, host, lid, lmc, tier
FROM core.fabric_node
WHERE night >= $first_night::DATE AND ($cluster::VARCHAR IS NULL OR cluster = $cluster::VARCHAR)
