-- ---
-- about = "Patterns of logs, and what each ring lacks."
-- parts = []
-- reads = ["main.link_patterns", "main.link_ring"]
-- parameters = ["cluster", "log_ids", "first_night"]
-- ---
SELECT * EXCLUDE (cluster, night)
FROM (
    FROM main.link_patterns
    WHERE cluster = $cluster AND night >= $first_night::DATE AND list_contains($log_ids, log_id)
)
FULL JOIN (
    SELECT log_id, ring, op, striped_by_ratio, missing
    FROM main.link_ring
    WHERE cluster = $cluster AND night >= $first_night::DATE AND list_contains($log_ids, log_id)
) USING (log_id, ring, op)
ORDER BY log_id, op, ring DESC, metric, node_level DESC NULLS LAST
