-- ---
-- about = "Whose fault it is where one log was slow: the application's, the system's or a neighbour's."
-- grain = ["log_id"]
-- reads = ["lake.log_weather_profile"]
-- ---
SELECT *
FROM lake.log_weather_profile
