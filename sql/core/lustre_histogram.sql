-- ---
-- about = "A bucket of a histogram of a target at the time of reading."
-- grain = []
-- reads = ["lake.lustre_histogram"]
-- ---
SELECT *
FROM lake.lustre_histogram
