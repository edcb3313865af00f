-- ---
-- about = "What a user's program did on a mounted file system in a night; a file counts once for each log that touched it."
-- grain = []
-- reads = ["lake.mount_night"]
-- ---
SELECT *
FROM lake.mount_night
