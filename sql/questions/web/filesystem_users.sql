-- ---
-- about = "Whose programs spent most time on a file system."
-- parts = ["filesystem_use"]
-- reads = []
-- parameters = []
-- ---
SELECT
    "user", uid, app, sum(io_core_seconds) / 3600 AS io_core_hours, sum(meta_core_seconds) / 3600 AS meta_core_hours,
    try_cast(sum(read_bytes) AS BIGINT) AS read_bytes, try_cast(sum(write_bytes) AS BIGINT) AS write_bytes,
    try_cast(sum(file_count) AS BIGINT) AS file_count, sum(log_count)::BIGINT AS log_count, max(night) AS last_night
FROM filesystem_use
GROUP BY "user", uid, app
ORDER BY io_core_hours DESC NULLS LAST, log_count DESC, "user", uid, app
LIMIT 20
