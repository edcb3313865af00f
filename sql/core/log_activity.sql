-- ---
-- about = "What one log did of each kind that triggers ask about, and what it lacks to answer them; NULL where nothing is lacking."
-- grain = ["log_id"]
-- reads = ["lake.log_activity"]
-- ---
SELECT *
FROM lake.log_activity
