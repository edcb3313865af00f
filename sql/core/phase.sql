-- ---
-- about = "A stretch of time in which a log does I/O in a layer, or (layer all) in any."
-- grain = ["log_id", "layer", "phase"]
-- reads = ["lake.phase"]
-- ---
SELECT *
FROM lake.phase
