-- ---
-- about = "How servers dealt with one log's requests, and how long its I/O took beside runs of its lineage."
-- grain = ["log_id"]
-- reads = ["lake.log_weather_profile"]
-- ---
SELECT *
FROM lake.log_weather_profile
