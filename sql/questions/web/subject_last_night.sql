-- ---
-- about = "The last night of which something is known of a user, application, host or target; none where nothing is."
-- parts = ["subject_run"]
-- reads = ["main.target_hours", "core.job"]
-- parameters = ["kind", "name", "cluster"]
-- ---
SELECT max(night) AS last_night
FROM (
    SELECT night FROM subject_run
    UNION ALL
    SELECT night
    FROM main.target_hours
    WHERE
        $kind = 'target' AND ($cluster IS NULL OR cluster = $cluster)
        AND $name IN (target, regexp_extract(target, '(OST|MDT)[0-9a-f]{4,}$'))
    UNION ALL
    SELECT night
    FROM core.job
    WHERE $kind = 'host' AND ($cluster IS NULL OR cluster = $cluster) AND list_contains(hosts, $name)
)
