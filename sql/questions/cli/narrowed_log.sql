-- ---
-- about = "Logs that options select; each parameter is NULL for all."
-- parts = []
-- reads = ["main.logs", "core.job"]
-- parameters = ["first_night", "last_night", "user", "app", "account", "cluster"]
-- ---
SELECT *
FROM main.logs
WHERE
    ($first_night::DATE IS NULL OR night >= $first_night::DATE) AND ($last_night::DATE IS NULL OR night <= $last_night::DATE)
    AND ($cluster::VARCHAR IS NULL OR cluster = $cluster::VARCHAR)
    AND ($user::VARCHAR IS NULL OR "user" = $user::VARCHAR OR uid::VARCHAR = $user::VARCHAR)
    AND ($app::VARCHAR IS NULL OR app = $app::VARCHAR)
    AND (
        $account::VARCHAR IS NULL
        OR (cluster, job_id) IN (SELECT (cluster, job_id) FROM core.job WHERE account = $account::VARCHAR)
    )
