-- ---
-- about = "Traced requests of a rank on a file in one direction that follow each other in one pattern."
-- grain = []
-- reads = ["lake.access_run"]
-- ---
SELECT *
FROM lake.access_run
