-- ---
-- about = "Files that one rank alone wrote each, by mount: how many, when, and on how many nodes the log ran; the mounts with most first."
-- parts = []
-- reads = ["core.own_burst", "main.create_bursts", "core.log", "core.rank_io"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
WITH node AS (
    SELECT log_id, COUNT(DISTINCT host) AS host_count
    FROM core.rank_io
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
    GROUP BY log_id
    -- Where only some ranks' nodes are known, these are not all.
    HAVING bool_and(COALESCE(host, '') <> '')
)
SELECT
    log_id, burst.mount, file_count, rank_count, write_bytes, write_count, start_seconds, end_seconds, peak_create_count, log.nprocs,
    host_count
FROM (SELECT *, COALESCE(mount, '') AS mount_name FROM core.own_burst) AS burst
LEFT JOIN (SELECT cluster, night, log_id, COALESCE(mount, '') AS mount_name, peak_create_count FROM main.create_bursts) AS creates
    USING (cluster, night, log_id, mount_name)
JOIN (SELECT cluster, night, log_id, nprocs FROM core.log) AS log USING (cluster, night, log_id)
LEFT JOIN node USING (log_id)
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
ORDER BY log_id, file_count DESC, burst.mount
