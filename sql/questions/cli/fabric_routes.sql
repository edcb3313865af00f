-- ---
-- about = "What was read of the fabric: rows of fabric_route, from a night on."
-- parts = []
-- reads = ["core.fabric_route"]
-- # NULL for all clusters.
-- parameters = ["first_night", "cluster"]
-- ---
SELECT
    sampled_at, guid, out_ports
FROM core.fabric_route
WHERE night >= $first_night::DATE AND ($cluster::VARCHAR IS NULL OR cluster = $cluster::VARCHAR)
