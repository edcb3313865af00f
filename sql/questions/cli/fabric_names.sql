-- ---
-- about = "What was read of the fabric: rows of fabric_name, from a night on."
-- parts = []
-- reads = ["core.fabric_name"]
-- # NULL for all clusters.
-- parameters = ["first_night", "cluster"]
-- ---
SELECT
    sampled_at, name_kind, name, alias
FROM core.fabric_name
WHERE night >= $first_night::DATE AND ($cluster::VARCHAR IS NULL OR cluster = $cluster::VARCHAR)
