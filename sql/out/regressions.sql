-- ---
-- about = "Where a lineage's I/O takes longer than usual for the bytes it moves: since some run (a step), or in a single run."
-- grain = ["cluster", "lineage_id", "log_id"]
-- reads = ["core.regression"]
-- ---
SELECT *
FROM core.regression
ORDER BY is_regression DESC NULLS LAST, all_lost_core_seconds DESC, log_id, lineage_id, cluster
