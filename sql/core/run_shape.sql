-- ---
-- about = "What a run did: how much, in how many requests, on how many ranks, files and OSTs; and how long its I/O took."
-- grain = ["log_id"]
-- reads = ["lake.run_shape"]
-- ---
SELECT *
FROM lake.run_shape
