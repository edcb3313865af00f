-- ---
-- about = "The last nights in which something of a kind was read of the fabric."
-- parts = []
-- reads = ["core.fabric_link", "core.fabric_name", "core.fabric_route"]
-- # NULL for all clusters.
-- parameters = ["cluster", "most_nights"]
-- ---
WITH read AS (
    SELECT DISTINCT 'link' AS kind, cluster, night FROM core.fabric_link
    UNION ALL
    SELECT DISTINCT 'route', cluster, night FROM core.fabric_route
    UNION ALL
    SELECT DISTINCT 'name', cluster, night FROM core.fabric_name
)
SELECT kind, min(night) AS first_night
FROM (
    SELECT DISTINCT kind, night
    FROM read
    WHERE $cluster::VARCHAR IS NULL OR cluster = $cluster::VARCHAR
    QUALIFY dense_rank() OVER (PARTITION BY kind ORDER BY night DESC) <= $most_nights::BIGINT
)
GROUP BY kind
