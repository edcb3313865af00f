-- ---
-- about = "Nights of which it is known what links did, whether ports were read in them, and machines whose fabric is known."
-- parts = []
-- reads = ["core.link_night", "core.fabric_node"]
-- parameters = []
-- ---
SELECT cluster, night, bool_or(utilisation_ratio IS NOT NULL) AS is_counted
FROM core.link_night
GROUP BY ALL
UNION ALL
SELECT DISTINCT cluster, NULL AS night, NULL AS is_counted
FROM core.fabric_node
ORDER BY cluster, night DESC NULLS LAST
