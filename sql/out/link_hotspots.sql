-- ---
-- about = "Who fills which link, and when: hours in which a directed link was congested, the worst first."
-- grain = ["cluster", "night", "begin_at", "link_id", "guid", "port"]
-- reads = ["core.link_hour"]
-- ---
SELECT
    device, port, peer_device, peer_port, begin_at, "user", job_id, link_user_ratio, job_count, congested_slot_count,
    peak_utilisation_ratio, utilisation_ratio, wait_times_ratio, counted_bytes, storage_bytes, other_bytes,
    storage_bytes / NULLIF(GREATEST(counted_bytes, storage_bytes), 0) AS storage_ratio,
    other_bytes / NULLIF(GREATEST(counted_bytes, storage_bytes), 0) AS other_ratio, trouble, link_id, guid, night, cluster
FROM core.link_hour
WHERE congested_slot_count > 0
ORDER BY congested_slot_count DESC, peak_utilisation_ratio DESC NULLS LAST, wait_times_ratio DESC NULLS LAST, begin_at, guid, port, link_id, night, cluster
