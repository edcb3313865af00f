-- ---
-- about = "What was moved on an OST, or a whole file system, in ten minutes: by all, as servers count, and by a log, as Darshan does."
-- grain = []
-- reads = ["lake.traffic_slot"]
-- ---
SELECT *
FROM lake.traffic_slot
