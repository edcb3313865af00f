-- ---
-- about = "What options may name: users by login and uid, programs, accounts and machines."
-- parts = []
-- reads = ["main.logs", "core.app_night", "core.job"]
-- parameters = []
-- ---
WITH named AS (
    SELECT DISTINCT "user", uid, app, NULL AS account, cluster FROM main.logs
    UNION ALL
    -- Sums of nights stay when their logs leave.
    SELECT DISTINCT "user", uid, app, account, cluster FROM core.app_night
    UNION ALL
    SELECT DISTINCT NULL, NULL, NULL, account, NULL FROM core.job
)
SELECT DISTINCT
    unnest(['user', 'user', 'app', 'account', 'cluster']) AS kind, unnest(["user", uid::VARCHAR, app, account, cluster]) AS name
FROM named
ORDER BY kind, name
