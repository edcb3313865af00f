-- ---
-- about = "An input other than a Darshan log that was read."
-- grain = []
-- reads = ["lake.source_file"]
-- ---
SELECT *
FROM lake.source_file
