-- ---
-- about = "Why inputs were rejected, the commonest reason first, each with one input."
-- parts = []
-- reads = ["main.rejects"]
-- parameters = []
-- ---
SELECT count(*) AS reject_count, stage, is_final, reason, max("at") AS last_at, any_value(path) AS example_path
FROM main.rejects
GROUP BY stage, is_final, reason
ORDER BY reject_count DESC, reason, stage
LIMIT 20
