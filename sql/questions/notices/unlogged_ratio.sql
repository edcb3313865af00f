-- ---
-- about = "Share of the node-hours of jobs without a log, by night."
-- parts = []
-- reads = ["main.coverage"]
-- parameters = ["night", "night_before"]
-- ---
SELECT night, 1 - sum(logged_node_hours) / sum(node_hours) AS value
FROM main.coverage
WHERE node_hours > 0 AND night IN ($night, $night_before)
GROUP BY night
