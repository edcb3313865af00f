-- ---
-- about = "Links of a fabric as they were at a time, both ends of each on known devices."
-- parts = ["held"]
-- reads = ["core.fabric_node", "core.fabric_link"]
-- parameters = ["cluster", "until"]
-- ---
SELECT guid, port, peer_guid, peer_port, lanes, speed, capacity_bytes_per_second, is_up
FROM core.fabric_link
JOIN held USING (sampled_at)
WHERE cluster = $cluster AND guid IS NOT NULL AND peer_guid IS NOT NULL AND port IS NOT NULL AND peer_port IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY guid, port ORDER BY peer_guid, peer_port) = 1
ORDER BY guid, port
