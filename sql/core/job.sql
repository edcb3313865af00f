-- ---
-- about = "A job as the scheduler accounts for it; one that has not ended yet may come again."
-- grain = []
-- reads = ["lake.job"]
-- ---
SELECT *
FROM lake.job
