-- ---
-- about = "Share of the logs that have findings, by night."
-- parts = []
-- reads = ["main.trends"]
-- parameters = ["night", "night_before"]
-- ---
SELECT night, sum(finding_log_count) / sum(log_count) AS value
FROM main.trends
WHERE night IN ($night, $night_before) AND log_count > 0
GROUP BY night
