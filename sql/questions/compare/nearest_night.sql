-- ---
-- about = "The night with logs that is nearest to one, among the logs that the options select."
-- parts = ["cli/narrowed_log"]
-- reads = []
-- parameters = ["night"]
-- ---
SELECT night
FROM narrowed_log
WHERE is_owner_confirmed IS DISTINCT FROM false
GROUP BY night
ORDER BY abs(night - $night::DATE), night
LIMIT 1
