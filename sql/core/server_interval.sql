-- ---
-- about = "What a target did between two readings, for all or for a job or client."
-- grain = []
-- reads = ["lake.server_interval"]
-- ---
SELECT *
FROM lake.server_interval
