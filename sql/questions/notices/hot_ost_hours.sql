-- ---
-- about = "Hours in which an OST was at least twice as slow as usual, by night."
-- parts = []
-- reads = ["main.ost_hotspots"]
-- parameters = ["night", "night_before"]
-- ---
SELECT night, count(*) AS value
FROM main.ost_hotspots
WHERE night IN ($night, $night_before)
GROUP BY night
