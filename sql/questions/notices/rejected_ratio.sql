-- ---
-- about = "Share of the files found by that day's sweeps that could not be read, by night."
-- parts = []
-- reads = ["main.sweeps"]
-- parameters = ["night", "night_before"]
-- ---
SELECT (start_at AT TIME ZONE 'UTC')::DATE AS night, sum(rejected_count) / sum(found_count) AS value
FROM main.sweeps
WHERE found_count > 0 AND (start_at AT TIME ZONE 'UTC')::DATE IN ($night, $night_before)
GROUP BY ALL
