-- ---
-- about = "The requests of one log: how many are small, go backwards, are misaligned or move bytes again, and what that cost."
-- grain = ["log_id"]
-- reads = ["core.log_requests"]
-- ---
SELECT *
FROM core.log_requests
