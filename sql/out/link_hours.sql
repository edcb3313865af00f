-- ---
-- about = "What each directed link moved in an hour: storage and other traffic, how full it was, what was wrong, who moved most."
-- grain = ["cluster", "night", "begin_at", "link_id", "guid", "port"]
-- reads = ["core.link_hour"]
-- ---
SELECT
    begin_at, device, port, peer_device, peer_port, link_id, guid, peer_guid, counted_bytes, storage_bytes, other_bytes,
    covered_seconds, capacity_bytes_per_second, utilisation_ratio, peak_utilisation_ratio, link_class, faulty_slot_count,
    congested_slot_count, trouble, xmit_wait_ticks, wait_times_ratio, symbol_error_count, link_recovery_count, link_downed_count,
    rcv_error_count, xmit_discard_count, job_count, "user", job_id, link_user_ratio, is_host_end, is_between_switches, night, cluster
FROM core.link_hour
