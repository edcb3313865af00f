-- ---
-- about = "How often a layer's trace holds requests of one length; where lengths are many, they are rounded down."
-- grain = ["log_id", "layer", "op", "length_bytes"]
-- reads = ["lake.request_size"]
-- ---
SELECT *
FROM lake.request_size
