-- ---
-- about = "How many logs are of a user without a name."
-- parts = []
-- reads = ["main.logs"]
-- parameters = ["first_night", "last_night"]
-- ---
SELECT uid, count(*) AS log_count
FROM main.logs
WHERE night BETWEEN $first_night AND $last_night AND coalesce("user", '') = ''
GROUP BY uid
ORDER BY log_count DESC, uid
