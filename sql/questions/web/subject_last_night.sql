-- ---
-- about = "The last night of which something is known of a user, application, host, target or file system; none where nothing is."
-- parts = ["subject_run", "subject_hours", "filesystem_use"]
-- reads = ["core.job"]
-- parameters = ["kind", "name", "cluster"]
-- ---
SELECT max(night) AS last_night
FROM (
    SELECT night FROM subject_run
    UNION ALL
    SELECT night FROM subject_hours WHERE $kind IN ('target', 'filesystem')
    UNION ALL
    SELECT night FROM filesystem_use WHERE $kind = 'filesystem'
    UNION ALL
    SELECT night
    FROM core.job
    WHERE $kind = 'host' AND ($cluster IS NULL OR cluster = $cluster) AND list_contains(hosts, $name)
)
