-- ---
-- about = "What became of findings since a mail first listed them, what was saved first."
-- parts = []
-- reads = ["main.advice_outcomes", "main.triggers"]
-- parameters = ["kind", "name", "cluster"]
-- ---
SELECT
    outcome, "user", uid, application, advised.code, title, told_night, clear_night, saved_core_seconds / 3600 AS saved_core_hours,
    before_count, before_fired_count, later_count, later_fired_count, lineage_id, cluster
FROM main.advice_outcomes AS advised
LEFT JOIN (SELECT code, title FROM main.triggers WHERE ruleset = 'iomine') AS trigger USING (code)
WHERE
    outcome <> 'not told' AND ($cluster IS NULL OR cluster = $cluster)
    AND CASE $kind
        WHEN 'user' THEN coalesce(nullif("user", ''), uid::VARCHAR) = $name
        WHEN 'application' THEN application = $name
        ELSE $kind IS NULL
    END
ORDER BY
    outcome IN ('still there', 'unknown'), saved_core_hours DESC NULLS LAST, outcome, told_night DESC, lineage_id, advised.code
LIMIT 20
