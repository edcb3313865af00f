-- ---
-- about = "The links that a log's I/O took: how much of it passed each, and in how many of its ten minutes something was wrong there."
-- grain = ["log_id", "link_id"]
-- reads = ["core.log_link", "core.log"]
-- ---
SELECT
    link.log_id, job_id, "user", app, device, port, peer_device, peer_port, link.read_bytes, link.write_bytes, link_bytes_ratio,
    link_straggler_ratio, is_host_link, is_server_link, io_slot_count, counted_slot_count, faulty_slot_count,
    congested_slot_count, collision_slot_count, link_trouble_own_ratio, link_trouble_other_ratio, link_others, faulty_trouble,
    congested_trouble, link_id, guid, peer_guid, night, cluster
FROM core.log_link AS link
LEFT JOIN (SELECT cluster, night, log_id, job_id, "user", app FROM core.log) AS log USING (cluster, night, log_id)
