-- ---
-- about = "Where I/O takes longer than is usual of a lineage, for the bytes it moves: a step since which it does, or a single run."
-- grain = ["cluster", "lineage_id", "log_id"]
-- reads = ["core.regression"]
-- ---
SELECT *
FROM core.regression
ORDER BY is_regression DESC NULLS LAST, all_lost_core_seconds DESC, log_id, lineage_id, cluster
