-- ---
-- about = "The last night in which servers' statistics name a user; none where they do not."
-- parts = []
-- reads = ["main.target_hours"]
-- parameters = ["kind", "name", "cluster"]
-- ---
SELECT max(night) AS last_night
FROM main.target_hours
WHERE $kind = 'user' AND "user" = $name AND ($cluster IS NULL OR cluster = $cluster)
