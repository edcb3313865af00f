-- ---
-- about = "Readings of fabrics that hold at a time: none of their devices was read again since. The first holds before it was made too."
-- parts = []
-- reads = ["core.fabric_node"]
-- parameters = ["cluster", "until"]
-- ---
WITH seen AS (
    SELECT guid, sampled_at, max(sampled_at) OVER (PARTITION BY guid) AS newest_at
    FROM core.fabric_node
    WHERE cluster = $cluster AND guid IS NOT NULL
        AND (sampled_at < $until OR sampled_at = (SELECT min(sampled_at) FROM core.fabric_node WHERE cluster = $cluster))
)
SELECT sampled_at
FROM seen
GROUP BY sampled_at
HAVING bool_and(sampled_at = newest_at)
