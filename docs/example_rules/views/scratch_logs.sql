-- ---
-- about = "What a log wrote through stdio to log files on file systems mounted at /scratch."
-- grain = ["log_id"]
-- reads = ["core.log", "core.stdio_file", "core.file_name"]
-- [words]
-- site_log_write_count = "Writes of log files on /scratch through stdio."
-- site_log_bytes = "Bytes of these."
-- site_log_core_seconds = "Time that ranks spent on these files."
-- site_log_path = "The log file that took most time."
-- [panel]
-- form = "table"
-- title = "Log files on /scratch"
-- columns = ["log_id", "site_log_path", "site_log_write_count", "site_log_bytes"]
-- ---
WITH written AS (
    SELECT
        cluster, night, log_id, sum(write_count)::BIGINT AS writes, sum(write_bytes)::BIGINT AS bytes,
        sum(write_seconds + meta_seconds) AS core_seconds, arg_max(path, write_seconds + meta_seconds) AS path
    FROM core.stdio_file
    JOIN core.file_name USING (cluster, night, log_id, file_id)
    WHERE starts_with(mount, '/scratch') AND regexp_matches(path, '\.(log|out|err|txt)$') AND write_count > 0
    GROUP BY ALL
)
SELECT
    cluster, night, log_id, NOT is_partial AS is_complete, coalesce(writes, 0) AS site_log_write_count,
    coalesce(bytes, 0) AS site_log_bytes, coalesce(core_seconds, 0) AS site_log_core_seconds, written.path AS site_log_path
FROM core.log
LEFT JOIN written USING (cluster, night, log_id)
ORDER BY site_log_write_count DESC, log_id
