-- ---
-- about = "The part of a log's I/O time that each cost is about: files of which the costs come in the same order make one group."
-- grain = ["log_id", "claim_group", "cost_name"]
-- reads = ["lake.cost_claim"]
-- ---
SELECT *
FROM lake.cost_claim
