-- ---
-- about = "How many aggregators the hint cb_nodes asks for in one log that used MPI-IO, against the nodes that the log names."
-- grain = ["log_id"]
-- reads = ["lake.drishti_aggregators"]
-- ---
SELECT *
FROM lake.drishti_aggregators
