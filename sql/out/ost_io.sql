-- ---
-- about = "What one OST did for a log in one direction, and what no OST is known for."
-- grain = ["log_id", "layer", "ost_id", "op", "evidence", "reason"]
-- reads = ["core.ost_io"]
-- ---
SELECT *
FROM core.ost_io
