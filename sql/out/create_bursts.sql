-- ---
-- about = "The files that a log created on a mount: how many within its busiest second and its busiest ten, and in how many directories."
-- grain = ["log_id", "mount"]
-- reads = ["core.created_file", "core.log", "core.unsound_module"]
-- ---
-- A second may begin at any hundredth, so that a burst counts as much wherever it falls. 1.14 s is a little less as a double.
WITH slot AS (
    -- Where no mount is known, it has a name that joins.
    SELECT cluster, night, log_id, COALESCE(mount, '') AS mount_name, floor(round(open_start_seconds * 100, 4))::BIGINT AS hundredth, COUNT(*) AS slot_count
    FROM core.created_file
    WHERE open_start_seconds IS NOT NULL
    GROUP BY ALL
),
span AS (
    SELECT
        cluster, night, log_id, mount_name, hundredth,
        SUM(slot_count) OVER (since RANGE BETWEEN CURRENT ROW AND 99 FOLLOWING) AS second_count,
        SUM(slot_count) OVER (since RANGE BETWEEN CURRENT ROW AND 999 FOLLOWING) AS ten_second_count
    FROM slot
    WINDOW since AS (PARTITION BY cluster, night, log_id, mount_name ORDER BY hundredth)
),
busiest AS (
    SELECT
        cluster, night, log_id, mount_name, MAX(second_count)::BIGINT AS peak_create_count,
        MAX(ten_second_count) / 10 AS burst_creates_per_second,
        arg_max(hundredth, second_count ORDER BY hundredth) / 100 AS peak_start_seconds,
        arg_max(hundredth, ten_second_count ORDER BY hundredth) / 100 AS burst_start_seconds
    FROM span
    GROUP BY ALL
),
in_directory AS (
    SELECT
        cluster, night, log_id, mount, directory, COUNT(*) AS file_count,
        COUNT(*) FILTER (open_start_seconds IS NULL) AS undated_count
    FROM core.created_file
    GROUP BY ALL
),
created AS (
    SELECT
        cluster, night, log_id, mount, COALESCE(mount, '') AS mount_name, SUM(file_count)::BIGINT AS created_file_count,
        SUM(undated_count)::BIGINT AS undated_create_count,
        COUNT(directory) AS directory_count, MAX(file_count) FILTER (directory IS NOT NULL) AS fullest_directory_create_count,
        SUM(file_count) FILTER (directory IS NOT NULL) / NULLIF(directory_count, 0) AS files_per_directory_ratio
    FROM in_directory
    GROUP BY ALL
),
unsound AS (
    SELECT DISTINCT cluster, night, log_id
    FROM core.unsound_module
    WHERE module IN ('POSIX', 'STDIO', 'DFS')
)
SELECT
    log_id, job_id, "user", app, mount, unsound.log_id IS NULL AND undated_create_count = 0 AS is_complete, created_file_count,
    undated_create_count, peak_create_count, peak_start_seconds,
    start_at + to_microseconds((peak_start_seconds * 1000000)::BIGINT) AS peak_at, burst_creates_per_second, burst_start_seconds,
    directory_count, fullest_directory_create_count, files_per_directory_ratio, night, cluster
FROM created
LEFT JOIN busiest USING (cluster, night, log_id, mount_name)
LEFT JOIN (SELECT cluster, night, log_id, job_id, "user", app, start_at FROM core.log) AS log USING (cluster, night, log_id)
LEFT JOIN unsound USING (cluster, night, log_id)
