-- ---
-- about = "The night with logs that is nearest to one."
-- parts = []
-- reads = ["main.logs"]
-- # NULL for all clusters.
-- parameters = ["night", "cluster"]
-- ---
SELECT night
FROM main.logs
WHERE $cluster::VARCHAR IS NULL OR cluster = $cluster::VARCHAR
GROUP BY night
ORDER BY abs(night - $night::DATE), night
LIMIT 1
