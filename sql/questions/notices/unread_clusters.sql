-- ---
-- about = "Machines without a log of that night, by night."
-- parts = []
-- reads = ["core.app_night", "core.newest_night"]
-- parameters = ["night", "night_before"]
-- ---
SELECT night, machines - count(DISTINCT cluster) AS value
FROM core.app_night, (SELECT count(DISTINCT cluster) AS machines FROM core.newest_night)
WHERE night IN ($night, $night_before)
GROUP BY night, machines
