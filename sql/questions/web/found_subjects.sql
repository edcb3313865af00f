-- ---
-- about = "Users, applications, hosts and OSTs of runs with findings, and file systems that were used: of each kind those that cost most."
-- parts = []
-- reads = ["main.findings", "main.logs", "core.rank_io", "core.log_node", "core.ost_io", "core.mount_night", "core.owner_doubt"]
-- parameters = ["since", "until", "cluster", "most"]
-- ---
WITH found AS (
    SELECT cluster, night, log_id, sum(charged_core_seconds) AS core_seconds
    FROM main.findings
    ANTI JOIN core.owner_doubt USING (cluster, night, log_id)
    WHERE night BETWEEN $since AND $until AND ($cluster IS NULL OR cluster = $cluster)
    GROUP BY cluster, night, log_id
),
run AS (
    SELECT
        unnest(['user', 'application']) AS kind, unnest([coalesce(nullif("user", ''), uid::VARCHAR), application]) AS name,
        core_seconds
    FROM (SELECT * FROM main.logs WHERE night BETWEEN $since AND $until)
    JOIN found USING (cluster, night, log_id)
),
named AS (
    FROM run
    UNION ALL
    SELECT 'host', host, core_seconds
    FROM (
        SELECT cluster, night, log_id, host FROM core.rank_io WHERE night BETWEEN $since AND $until
        UNION
        SELECT cluster, night, log_id, host FROM core.log_node WHERE night BETWEEN $since AND $until
    )
    JOIN found USING (cluster, night, log_id)
    UNION ALL
    SELECT 'target', format('OST{:04x}', ost_id), core_seconds
    FROM (
        SELECT DISTINCT cluster, night, log_id, ost_id
        FROM core.ost_io
        WHERE night BETWEEN $since AND $until AND ost_id >= 0 AND moved_bytes > 0
    )
    JOIN found USING (cluster, night, log_id)
    UNION ALL
    SELECT 'filesystem', mount, io_core_seconds
    FROM core.mount_night
    WHERE night BETWEEN $since AND $until AND ($cluster IS NULL OR cluster = $cluster)
)
SELECT kind, name
FROM named
WHERE name <> ''
GROUP BY kind, name
QUALIFY row_number() OVER (PARTITION BY kind ORDER BY sum(core_seconds) DESC NULLS LAST, name) <= $most
ORDER BY kind, name
