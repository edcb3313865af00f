-- ---
-- about = "Sums of nights that options select; each parameter is NULL for all."
-- parts = []
-- reads = ["core.app_night"]
-- parameters = ["first_night", "last_night", "user", "app", "account", "cluster"]
-- ---
SELECT *
FROM core.app_night
WHERE
    ($first_night::DATE IS NULL OR night >= $first_night::DATE) AND ($last_night::DATE IS NULL OR night <= $last_night::DATE)
    AND ($cluster::VARCHAR IS NULL OR cluster = $cluster::VARCHAR)
    AND ($user::VARCHAR IS NULL OR "user" = $user::VARCHAR OR uid::VARCHAR = $user::VARCHAR)
    AND ($app::VARCHAR IS NULL OR app = $app::VARCHAR)
    AND ($account::VARCHAR IS NULL OR account = $account::VARCHAR)
