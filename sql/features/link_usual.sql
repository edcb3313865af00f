-- ---
-- about = "How long data usually waits at a directed link in a night: what later nights are compared with."
-- grain = ["cluster", "night", "guid", "port"]
-- reads = ["core.link_interval"]
-- ---
SELECT guid, port, COUNT(*) AS interval_count, MEDIAN(wait_per_word_ratio) AS median_wait_per_word_ratio, night, cluster
FROM core.link_interval
WHERE wait_per_word_ratio IS NOT NULL AND quality = 'sound'
GROUP BY guid, port, night, cluster
