-- ---
-- about = "What a job had a target do in ten minutes, and how long that usually takes."
-- grain = []
-- reads = ["lake.server_slot"]
-- ---
SELECT *
FROM lake.server_slot
