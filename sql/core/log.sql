-- ---
-- about = "One Darshan log: one launch of one program."
-- grain = ["log_id"]
-- reads = ["lake.log"]
-- ---
SELECT *
FROM lake.log
