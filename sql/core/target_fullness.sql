-- ---
-- about = "How full a target was."
-- grain = []
-- reads = ["lake.target_fullness"]
-- ---
SELECT *
FROM lake.target_fullness
