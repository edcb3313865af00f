-- ---
-- about = "What one OST did for a log in one direction, and what no OST is known for."
-- grain = ["log_id", "layer", "ost_id", "op", "evidence", "reason"]
-- reads = ["lake.ost_io"]
-- ---
SELECT *
FROM lake.ost_io
