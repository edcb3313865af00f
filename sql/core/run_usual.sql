-- ---
-- about = "How long one log's I/O took, held against runs of its lineage in nights before, and what it did otherwise than they."
-- grain = ["log_id"]
-- reads = ["lake.run_usual"]
-- ---
SELECT *
FROM lake.run_usual
