-- ---
-- about = "Whose log it is, of which application, on which hosts and OSTs, of which at most eight each are named."
-- parts = []
-- reads = ["main.logs", "core.rank_io", "core.log_node", "core.ost_io"]
-- parameters = ["cluster", "night", "log_id"]
-- ---
WITH host AS (
    SELECT host FROM core.rank_io WHERE cluster = $cluster AND night = $night AND log_id = $log_id AND host <> ''
    UNION
    SELECT host FROM core.log_node WHERE cluster = $cluster AND night = $night AND log_id = $log_id AND host <> ''
),
ost AS (
    SELECT format('OST{:04x}', ost_id) AS target, sum(moved_bytes) AS bytes
    FROM core.ost_io
    WHERE cluster = $cluster AND night = $night AND log_id = $log_id AND ost_id >= 0 AND moved_bytes > 0
    GROUP BY ost_id
)
SELECT
    coalesce(nullif("user", ''), uid::VARCHAR) AS "user", application, job_id, cluster,
    (SELECT count(*) FROM host) AS host_count,
    (SELECT list(host ORDER BY host) FROM (SELECT host FROM host ORDER BY host LIMIT 8)) AS hosts,
    (SELECT count(*) FROM ost) AS ost_count,
    (SELECT list(target ORDER BY bytes DESC, target) FROM (SELECT * FROM ost ORDER BY bytes DESC, target LIMIT 8)) AS targets
FROM main.logs
WHERE cluster = $cluster AND night = $night AND log_id = $log_id
