-- ---
-- about = "Files that one rank alone wrote each, by mount: how many, when, and on how many nodes the log ran; the mounts with most first."
-- parts = []
-- reads = ["core.own_burst", "core.log", "core.rank_io"]
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
    log_id, mount, file_count, rank_count, write_bytes, write_count, start_seconds, end_seconds, burst_open_count, log.nprocs,
    host_count
FROM core.own_burst
JOIN (SELECT cluster, night, log_id, nprocs FROM core.log) AS log USING (cluster, night, log_id)
LEFT JOIN node USING (log_id)
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
ORDER BY log_id, file_count DESC, mount
