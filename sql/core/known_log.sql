-- ---
-- about = "A log whose rows have left, by which it is still known."
-- grain = ["cluster", "night", "log_id"]
-- reads = ["lake.known_log"]
-- ---
SELECT *
FROM lake.known_log
