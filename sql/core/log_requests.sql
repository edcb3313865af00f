-- ---
-- about = "The requests of one log: how many are small, go backwards, are misaligned or move bytes again, and what that cost."
-- grain = ["log_id"]
-- reads = ["lake.log_requests"]
-- ---
SELECT *
FROM lake.log_requests
