-- ---
-- about = "How many logs of a user began in an hour: who fills the machine when."
-- grain = ["cluster", "night", "user", "site_hour_at"]
-- reads = ["main.logs"]
-- [words]
-- site_hour_at = "Begin of the hour in which the logs began."
-- [panel]
-- form = "heatmap"
-- title = "Logs by hour and user"
-- x = "site_hour_at"
-- y = "user"
-- value = "log_count"
-- ---
SELECT cluster, night, "user", date_trunc('hour', start_at) AS site_hour_at, count(*) AS log_count
FROM main.logs
WHERE start_at IS NOT NULL
GROUP BY ALL
