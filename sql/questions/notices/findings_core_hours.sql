-- ---
-- about = "Core-hours in requests that findings are about, by night."
-- parts = []
-- reads = ["main.trends"]
-- parameters = ["night", "night_before"]
-- ---
SELECT night, sum(cost_core_seconds) / 3600 AS value
FROM main.trends
WHERE night IN ($night, $night_before)
GROUP BY night
