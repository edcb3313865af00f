-- ---
-- about = "How regularly the phases of a layer, or (layer all) of the whole log, come in which bytes are moved in one direction."
-- grain = ["log_id", "layer", "op"]
-- reads = ["lake.period"]
-- ---
SELECT *
FROM lake.period
