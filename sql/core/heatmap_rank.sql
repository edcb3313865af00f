-- ---
-- about = "Bytes moved by a rank in time bins of equal width."
-- grain = ["log_id", "layer", "rank"]
-- reads = ["lake.heatmap_rank"]
-- ---
SELECT *
FROM lake.heatmap_rank
