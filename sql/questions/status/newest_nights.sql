-- ---
-- about = "The newest night of each machine that has logs."
-- parts = []
-- reads = ["main.logs"]
-- parameters = []
-- ---
SELECT cluster, max(night) AS night
FROM main.logs
GROUP BY cluster
ORDER BY cluster
