-- ---
-- about = "The directory in which a log had most small files, files of which less than 1 MiB was touched."
-- grain = ["log_id"]
-- reads = ["core.log", "main.files"]
-- [words]
-- site_folder_file_count = "Small files in that directory."
-- site_folder_core_seconds = "Time that ranks spent on these, opening them included."
-- site_folder_path = "The directory."
-- [panel]
-- form = "bar"
-- title = "Directories with most small files"
-- x = "site_folder_path"
-- y = "site_folder_file_count"
-- columns = ["site_folder_path", "site_folder_file_count", "site_folder_core_seconds", "log_id"]
-- ---
WITH folder AS (
    SELECT
        cluster, night, log_id, regexp_replace(path, '/[^/]*$', '') AS folder_path, count(*) AS file_count,
        sum(io_core_seconds) AS core_seconds
    FROM main.files
    WHERE extent_bytes < 1048576 AND starts_with(path, '/')
    GROUP BY ALL
),
fullest AS (
    SELECT *
    FROM folder
    QUALIFY row_number() OVER (PARTITION BY cluster, night, log_id ORDER BY file_count DESC, folder_path) = 1
)
SELECT
    cluster, night, log_id, NOT is_partial AS is_complete, coalesce(file_count, 0) AS site_folder_file_count,
    coalesce(core_seconds, 0) AS site_folder_core_seconds, folder_path AS site_folder_path
FROM core.log
LEFT JOIN fullest USING (cluster, night, log_id)
