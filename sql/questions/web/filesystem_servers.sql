-- ---
-- about = "What the servers of a file system count by night: how even its targets were and how full, if they have the name of its mount."
-- parts = []
-- reads = ["main.filesystem_days"]
-- parameters = ["name", "since", "until", "cluster"]
-- ---
SELECT
    night, read_bytes, write_bytes, mdt_rpc_count, busiest_target, ost_max_over_mean_ratio, fullest_ratio, ost_count, mdt_count,
    filesystem, cluster
FROM main.filesystem_days
WHERE
    night BETWEEN $since AND $until AND ($cluster IS NULL OR cluster = $cluster) AND filesystem = regexp_extract($name, '[^/]+$')
ORDER BY night DESC, cluster
LIMIT 30
