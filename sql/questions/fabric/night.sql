-- ---
-- about = "What the directed links of a fabric did in a night."
-- parts = []
-- reads = ["core.link_night"]
-- parameters = ["cluster", "night"]
-- ---
SELECT
    guid || '/' || port AS sender, utilisation_ratio, peak_utilisation_ratio, wait_per_word_ratio, link_error_count,
    multicast_packet_ratio,
    storage_bytes / (capacity_bytes_per_second * CASE WHEN covered_seconds > 0 THEN covered_seconds ELSE 86400 END) AS storage_ratio
FROM core.link_night
WHERE cluster = $cluster AND night = $night
ORDER BY guid, port
