-- ---
-- about = "How the last five sweeps went."
-- parts = []
-- reads = ["main.sweeps"]
-- parameters = []
-- ---
SELECT sweep_id, cluster, start_at, end_at, found_count, ingested_count, known_count, rejected_count
FROM main.sweeps
ORDER BY start_at DESC
LIMIT 5
