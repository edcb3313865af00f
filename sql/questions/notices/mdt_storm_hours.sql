-- ---
-- about = "Hours in which a metadata target was at least twice as slow as usual, by night."
-- parts = []
-- reads = ["main.mdt_storms"]
-- parameters = ["night", "night_before"]
-- ---
SELECT night, count(*) AS value
FROM main.mdt_storms
WHERE night IN ($night, $night_before)
GROUP BY night
