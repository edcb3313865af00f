-- ---
-- about = "Traced requests of a rank on a file in one direction that follow each other in one pattern."
-- grain = []
-- reads = ["core.access_run"]
-- ---
SELECT *
FROM core.access_run
