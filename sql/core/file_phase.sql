-- ---
-- about = "A stretch of time in which a log does I/O on one file in a layer."
-- grain = ["log_id", "layer", "file_id", "phase"]
-- reads = ["lake.file_phase"]
-- ---
SELECT *
FROM lake.file_phase
