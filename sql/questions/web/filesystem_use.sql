-- ---
-- about = "What users' programs did on a file system in a night, by its mount, or by the last part of that, as servers call it."
-- parts = []
-- reads = ["core.mount_night"]
-- parameters = ["name", "since", "until", "cluster"]
-- ---
SELECT *
FROM core.mount_night
WHERE
    night BETWEEN $since AND $until AND ($cluster IS NULL OR cluster = $cluster)
    AND $name IN (mount, regexp_extract(mount, '[^/]+$'))
