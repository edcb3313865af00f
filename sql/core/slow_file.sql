-- ---
-- about = "A log's reads of a file, or its writes, that took far longer than those of files alike: same directory, size and access."
-- grain = ["log_id", "layer", "file_id", "op"]
-- reads = ["main.file_requests", "main.files"]
-- ---
WITH request AS (
    SELECT
        cluster, night, log_id, layer, file_id, op, is_beneath_mpiio, moved_bytes, request_seconds, path, rank_count,
        request_seconds / request_count AS seconds_per_request, request_seconds / moved_bytes AS seconds_per_byte,
        -- Directories of ranks and steps differ in their numbers alone, and hold files alike.
        regexp_replace(regexp_replace(path, '[^/]*$', ''), '[0-9]+', '0', 'g') AS directory,
        floor(log10(moved_bytes)) AS size_class, rank_count > 1 AS is_of_many
    FROM main.file_requests
    -- A file without a path has no row: its directory cannot be compared.
    JOIN (SELECT cluster, night, log_id, file_id, path, rank_count FROM main.files) AS files USING (cluster, night, log_id, file_id)
    WHERE moved_bytes > 0 AND request_seconds > 0
),
alike AS (
    SELECT
        cluster, night, log_id, layer, op, directory, size_class, is_of_many, is_beneath_mpiio, COUNT(*) AS like_file_count,
        MEDIAN(seconds_per_request) AS median_per_request, MEDIAN(seconds_per_byte) AS median_per_byte,
        -- 1.4826 makes the median deviation of a normal distribution its standard deviation (Rousseeuw and Croux 1993).
        1.4826 * mad(seconds_per_byte) AS deviation
    FROM request
    GROUP BY ALL
    -- The median of fewer says little about what is usual.
    HAVING COUNT(*) >= 8
),
held AS (
    SELECT
        request.*, like_file_count, request_seconds - median_per_byte * moved_bytes AS excess_seconds,
        LEAST(seconds_per_request / median_per_request, seconds_per_byte / median_per_byte) AS slowdown_ratio,
        -- 3.5 deviations: Iglewicz and Hoaglin 1993. Three times as slow, since a file in the client's cache is fast.
        slowdown_ratio > 3 AND seconds_per_byte - median_per_byte > 3.5 * deviation AS is_slow_file
    FROM request
    JOIN alike USING (cluster, night, log_id, layer, op, directory, size_class, is_of_many, is_beneath_mpiio)
)
SELECT log_id, layer, file_id, op, path, rank_count, like_file_count, is_slow_file, slowdown_ratio, excess_seconds, night, cluster
FROM held
