-- ---
-- about = "Everything with that name, or with that in its name: jobs, logs, users, applications, hosts, targets, file systems and, where asked for, files."
-- parts = []
-- reads = [
--     "main.logs", "core.job", "core.rank_io", "core.server_slot", "core.ost_io", "core.mount_night", "core.file_name",
-- ]
-- parameters = ["text", "with_files", "most"]
-- ---
WITH of_logs AS (
    SELECT
        unnest(['job', 'log', 'user', 'application', 'application']) AS kind,
        unnest([job_id, log_id, coalesce(nullif("user", ''), uid::VARCHAR), application, app]) AS name,
        unnest([cluster, cluster, NULL, NULL, NULL]) AS cluster,
        unnest([coalesce("user", uid::VARCHAR), coalesce("user", uid::VARCHAR), NULL, NULL, NULL]) AS "user",
        unnest([application, application, NULL, NULL, NULL]) AS application,
        log_id, night
    FROM main.logs
),
named AS (
    SELECT * FROM of_logs
    UNION ALL
    SELECT 'job', job_id, cluster, "user", NULL, NULL, night FROM core.job
    UNION ALL
    SELECT 'host', unnest(hosts), NULL, NULL, NULL, NULL, night FROM core.job
    UNION ALL
    SELECT 'host', host, NULL, NULL, NULL, NULL, max(night) FROM core.rank_io GROUP BY host
    UNION ALL
    SELECT 'target', target, NULL, NULL, NULL, NULL, max(night) FROM core.server_slot GROUP BY target
    UNION ALL
    SELECT 'target', format('OST{:04x}', ost_id), NULL, NULL, NULL, NULL, max(night) FROM core.ost_io WHERE ost_id >= 0 GROUP BY ost_id
    UNION ALL
    SELECT 'filesystem', mount, NULL, NULL, NULL, NULL, max(night) FROM core.mount_night GROUP BY mount
    UNION ALL
    SELECT 'file', path, NULL, NULL, NULL, NULL, night
    FROM core.file_name
    WHERE $with_files AND contains(lower(path), lower($text))
),
matching AS (
    SELECT
        kind, name, cluster, max("user") AS "user", max(application) AS application, count(DISTINCT log_id) AS log_count,
        max(night) AS last_night, CASE WHEN count(DISTINCT log_id) = 1 THEN max(log_id) END AS log_id
    FROM named
    WHERE name <> '' AND contains(lower(name), lower($text))
    GROUP BY kind, name, cluster
)
SELECT
    kind, name, cluster, "user", application, log_count, last_night, log_id, count(*) OVER (PARTITION BY kind) AS name_count,
    name = $text AS is_exact
FROM matching
WINDOW of_kind AS (
    PARTITION BY kind ORDER BY name <> $text, NOT starts_with(lower(name), lower($text)), last_night DESC, log_count DESC, name, cluster
)
QUALIFY row_number() OVER of_kind <= $most
ORDER BY
    NOT is_exact, list_position(['job', 'log', 'user', 'application', 'host', 'target', 'filesystem', 'file'], kind),
    NOT starts_with(lower(name), lower($text)), last_night DESC, log_count DESC, name, cluster
