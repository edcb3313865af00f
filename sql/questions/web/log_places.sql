-- ---
-- about = "Whose logs these are, of which applications, on which hosts, OSTs and file systems; of each kind at most eight are named."
-- parts = []
-- reads = ["main.logs", "core.rank_io", "core.log_node", "core.ost_io", "core.file_name"]
-- # Logs of one machine, of nights from the first to the last.
-- parameters = ["cluster", "first_night", "last_night", "log_ids"]
-- ---
WITH log AS (
    SELECT coalesce(nullif("user", ''), uid::VARCHAR) AS "user", application
    FROM main.logs
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND list_contains($log_ids, log_id)
),
place AS (
    SELECT DISTINCT 'user' AS kind, "user" AS name, 1.0 AS weight FROM log
    UNION ALL
    SELECT DISTINCT 'application', application, 1.0 FROM log
    UNION ALL
    SELECT 'filesystem', mount, count(*)::DOUBLE
    FROM core.file_name
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND list_contains($log_ids, log_id)
    GROUP BY mount
    UNION ALL
    SELECT 'host', host, 1.0
    FROM (
        SELECT host
        FROM core.rank_io
        WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND list_contains($log_ids, log_id)
        UNION
        SELECT host
        FROM core.log_node
        WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND list_contains($log_ids, log_id)
    )
    UNION ALL
    SELECT 'target', format('OST{:04x}', ost_id), sum(moved_bytes)::DOUBLE
    FROM core.ost_io
    WHERE
        cluster = $cluster AND night BETWEEN $first_night AND $last_night AND list_contains($log_ids, log_id)
        AND ost_id >= 0 AND moved_bytes > 0
    GROUP BY ost_id
)
SELECT kind, name, count(*) OVER (PARTITION BY kind) AS name_count
FROM place
WHERE name <> ''
QUALIFY row_number() OVER (PARTITION BY kind ORDER BY weight DESC, name) <= 8
ORDER BY list_position(['user', 'application', 'filesystem', 'host', 'target'], kind), weight DESC, name
