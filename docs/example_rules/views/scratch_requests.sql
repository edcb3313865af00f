-- ---
-- about = "Requests of a log to file systems mounted at /scratch, whose blocks are 4 MiB, and how many of them were smaller."
-- grain = ["log_id"]
-- reads = ["core.log", "core.posix_file", "core.file_name"]
-- [words]
-- site_request_count = "Reads and writes of files on /scratch."
-- site_small_request_count = "Those of them with less than 4 MiB."
-- site_small_request_ratio = "These, over all on /scratch; NULL where there were none."
-- site_small_request_core_seconds = "Time in reads and writes of a file on /scratch, as much of it as of its requests were small."
-- ---
WITH on_scratch AS (
    SELECT
        cluster, night, log_id, read_count + write_count AS request_count, read_seconds + write_seconds AS core_seconds,
        read_size_4m_10m_count + read_size_10m_100m_count + read_size_100m_1g_count + read_size_1g_plus_count
        + write_size_4m_10m_count + write_size_10m_100m_count + write_size_100m_1g_count + write_size_1g_plus_count AS large_count
    FROM core.posix_file
    JOIN core.file_name USING (cluster, night, log_id, file_id)
    WHERE starts_with(mount, '/scratch') AND read_count + write_count > 0
),
per_log AS (
    SELECT
        cluster, night, log_id, sum(request_count)::BIGINT AS requests, sum(request_count - large_count)::BIGINT AS small_requests,
        sum(core_seconds * (request_count - large_count) / request_count) AS small_seconds
    FROM on_scratch
    GROUP BY ALL
)
SELECT
    cluster, night, log_id, NOT is_partial AS is_complete, coalesce(requests, 0) AS site_request_count,
    coalesce(small_requests, 0) AS site_small_request_count, small_requests / requests AS site_small_request_ratio,
    coalesce(small_seconds, 0) AS site_small_request_core_seconds
FROM core.log
LEFT JOIN per_log USING (cluster, night, log_id)
