-- ---
-- about = "A file that a log created in the ten seconds in which it created most on that mount."
-- grain = ["log_id", "file_id"]
-- reads = ["core.created_file", "main.create_bursts"]
-- ---
SELECT log_id, file_id, created.mount, meta_seconds, night, cluster
FROM (SELECT *, COALESCE(mount, '') AS mount_name FROM core.created_file) AS created
JOIN (SELECT *, COALESCE(mount, '') AS mount_name FROM main.create_bursts) AS burst USING (cluster, night, log_id, mount_name)
WHERE floor(round(open_start_seconds * 100, 4)) BETWEEN round(burst_start_seconds * 100) AND round(burst_start_seconds * 100) + 999
