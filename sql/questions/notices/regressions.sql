-- ---
-- about = "Applications whose I/O takes longer since that night, or a run of them, by night."
-- parts = []
-- reads = ["main.regressions"]
-- parameters = ["night", "night_before"]
-- ---
SELECT night, count(*) AS value
FROM main.regressions
WHERE is_regression AND night IN ($night, $night_before)
GROUP BY night
