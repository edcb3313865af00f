-- ---
-- about = "What one rank did in a layer, or (layer all) what its program asked for through all of them; idle ranks have no row."
-- grain = ["log_id", "layer", "rank"]
-- reads = ["core.rank_io"]
-- ---
SELECT *
FROM core.rank_io
