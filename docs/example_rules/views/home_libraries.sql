-- ---
-- about = "What a log spent on shared libraries below /home."
-- grain = ["log_id"]
-- reads = ["core.log", "main.files"]
-- [words]
-- site_library_count = "Shared libraries below /home that the log opened."
-- site_library_read_count = "Reads of these."
-- site_library_core_seconds = "Time that ranks spent on these, opening them included."
-- site_library_path = "The one that took most time."
-- ---
WITH library AS (
    SELECT
        cluster, night, log_id, count(*) AS library_count, sum(read_count)::BIGINT AS read_count,
        sum(io_core_seconds) AS core_seconds, arg_max(path, io_core_seconds) AS path
    FROM main.files
    WHERE regexp_matches(path, '^/home/.*\.so(\.[0-9.]+)?$')
    GROUP BY ALL
)
SELECT
    cluster, night, log_id, NOT is_partial AS is_complete, coalesce(library_count, 0) AS site_library_count,
    coalesce(library.read_count, 0) AS site_library_read_count, coalesce(core_seconds, 0) AS site_library_core_seconds,
    library.path AS site_library_path
FROM core.log
LEFT JOIN library USING (cluster, night, log_id)
