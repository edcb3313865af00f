-- ---
-- about = "An input that could not be read."
-- grain = []
-- reads = ["lake.reject"]
-- ---
SELECT *
FROM lake.reject
