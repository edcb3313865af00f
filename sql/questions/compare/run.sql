-- ---
-- about = "A run of the nights before, or of those after, among those that the options select."
-- parts = ["cli/narrowed_log"]
-- reads = []
-- parameters = ["first_before", "last_before", "first_after", "last_after"]
-- ---
SELECT *, night BETWEEN $first_after::DATE AND $last_after::DATE AS is_after
FROM narrowed_log
WHERE
    (night BETWEEN $first_before::DATE AND $last_before::DATE OR night BETWEEN $first_after::DATE AND $last_after::DATE)
    AND is_owner_confirmed IS DISTINCT FROM false
