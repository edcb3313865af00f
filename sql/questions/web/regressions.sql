-- ---
-- about = "Whose I/O takes longer than is usual of it, steps that last first."
-- parts = []
-- reads = ["main.regressions"]
-- parameters = ["kind", "name", "since", "until", "cluster"]
-- ---
SELECT
    "user", uid, application, regression_kind, io_slowdown_ratio, all_lost_core_seconds / 3600 AS lost_core_hours, log_count,
    since_at, weather_verdict, log_id, lineage_id, night, cluster
FROM main.regressions
WHERE
    night BETWEEN $since AND $until AND ($cluster IS NULL OR cluster = $cluster) AND is_regression IS DISTINCT FROM false
    AND CASE $kind
        WHEN 'user' THEN coalesce(nullif("user", ''), uid::VARCHAR) = $name
        WHEN 'application' THEN application = $name
        ELSE $kind IS NULL
    END
ORDER BY regression_kind = 'step' DESC, lost_core_hours DESC NULLS LAST, log_id
LIMIT 10
