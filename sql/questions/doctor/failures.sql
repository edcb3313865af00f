-- ---
-- about = "How many derivations failed, of how many logs, and one of these."
-- parts = []
-- reads = ["main.failed_derivations"]
-- parameters = []
-- ---
SELECT count(*) AS failures, count(DISTINCT log_id) AS logs, min(log_id) AS first
FROM main.failed_derivations
