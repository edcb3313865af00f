-- ---
-- about = "A run of the nights before, or of those after."
-- parts = []
-- reads = ["main.logs"]
-- # NULL for all clusters.
-- parameters = ["first_before", "last_before", "first_after", "last_after", "cluster"]
-- ---
SELECT *, night BETWEEN $first_after::DATE AND $last_after::DATE AS is_after
FROM main.logs
WHERE (night BETWEEN $first_before::DATE AND $last_before::DATE OR night BETWEEN $first_after::DATE AND $last_after::DATE)
    AND ($cluster::VARCHAR IS NULL OR cluster = $cluster::VARCHAR)
