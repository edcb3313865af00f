-- ---
-- about = "Hours of a storage target, of the targets of a file system, or of all; servers call a file system as the last part of its mount."
-- parts = []
-- reads = ["main.target_hours"]
-- parameters = ["kind", "name", "since", "until", "cluster"]
-- ---
SELECT *
FROM main.target_hours
WHERE
    night BETWEEN $since AND $until AND ($cluster IS NULL OR cluster = $cluster)
    AND CASE $kind
        -- With its file system or without.
        WHEN 'target' THEN $name IN (target, regexp_extract(target, '(OST|MDT)[0-9a-f]{4,}$'))
        WHEN 'filesystem' THEN regexp_extract($name, '[^/]+$') = regexp_extract(target, '^(.*)-(OST|MDT)', 1)
        ELSE $kind IS NULL
    END
