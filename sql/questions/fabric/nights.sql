-- ---
-- about = "Nights of which it is known what links did, and machines whose fabric is known."
-- parts = []
-- reads = ["core.link_night", "core.fabric_node"]
-- parameters = []
-- ---
SELECT DISTINCT cluster, night
FROM core.link_night
UNION ALL
SELECT DISTINCT cluster, NULL AS night
FROM core.fabric_node
ORDER BY cluster, night DESC NULLS LAST
