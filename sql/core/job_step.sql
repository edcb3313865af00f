-- ---
-- about = "A step of a job."
-- grain = []
-- reads = ["lake.job_step"]
-- ---
SELECT *
FROM lake.job_step
