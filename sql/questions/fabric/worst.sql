-- ---
-- about = "The worst hour of a directed link in a night, as link_hotspots has it, else the fullest; how many links were ill, and which was faulty for longest in an hour."
-- parts = []
-- reads = ["core.link_hour"]
-- parameters = ["cluster", "night"]
-- ---
SELECT
    device, port, peer_device, peer_port, begin_at, "user", job_id, link_user_ratio, congested_slot_count, peak_utilisation_ratio,
    trouble, count(DISTINCT link_id) FILTER (congested_slot_count > 0) OVER () AS congested_link_count,
    count(DISTINCT link_id) FILTER (faulty_slot_count > 0) OVER () AS faulty_link_count,
    arg_max(
        concat(coalesce(device, '?'), ' port ', port, ' to ' || peer_device, ' port ' || peer_port),
        {slots: faulty_slot_count, age: -epoch(begin_at), link_id: link_id}
    ) FILTER (faulty_slot_count > 0) OVER () AS faulty_link_name
FROM core.link_hour
WHERE cluster = $cluster AND night = $night
ORDER BY
    congested_slot_count DESC, peak_utilisation_ratio DESC NULLS LAST, wait_times_ratio DESC NULLS LAST, begin_at, guid, port, link_id
LIMIT 1
