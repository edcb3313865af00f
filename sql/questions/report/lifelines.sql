-- ---
-- about = "When files of a log were opened, read, written and closed: at most 24, and of those that took most time."
-- parts = []
-- reads = ["core.posix_file", "core.stdio_file", "core.file_name"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
WITH record AS (
    SELECT
        cluster, night, log_id, file_id, open_start_seconds, close_end_seconds, read_start_seconds, read_end_seconds,
        write_start_seconds, write_end_seconds, read_seconds, write_seconds, meta_seconds
    FROM core.posix_file
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
    UNION ALL
    SELECT
        cluster, night, log_id, file_id, open_start_seconds, close_end_seconds, read_start_seconds, read_end_seconds,
        write_start_seconds, write_end_seconds, read_seconds, write_seconds, meta_seconds
    FROM core.stdio_file
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
),
-- Darshan writes 0 for what never happened.
timed AS (
    SELECT
        cluster, night, log_id, file_id,
        min(nullif(open_start_seconds, 0)) AS open_start_seconds, max(nullif(close_end_seconds, 0)) AS close_end_seconds,
        min(nullif(read_start_seconds, 0)) AS read_start_seconds, max(nullif(read_end_seconds, 0)) AS read_end_seconds,
        min(nullif(write_start_seconds, 0)) AS write_start_seconds, max(nullif(write_end_seconds, 0)) AS write_end_seconds,
        sum(coalesce(read_seconds, 0) + coalesce(write_seconds, 0) + coalesce(meta_seconds, 0) ORDER BY read_seconds, write_seconds, meta_seconds)
            AS io_seconds
    FROM record
    GROUP BY ALL
),
longest AS (
    SELECT *, count(*) OVER (PARTITION BY log_id) AS log_file_count
    FROM timed
    WHERE coalesce(open_start_seconds, read_start_seconds, write_start_seconds, close_end_seconds) IS NOT NULL
    -- Files that took next to no time would hide the few that matter.
    QUALIFY row_number() OVER (PARTITION BY log_id ORDER BY io_seconds DESC, file_id) <= 24
        AND io_seconds >= max(io_seconds) OVER (PARTITION BY log_id) / 1000
)
SELECT
    log_id, path, open_start_seconds, close_end_seconds, read_start_seconds, read_end_seconds, write_start_seconds,
    write_end_seconds, io_seconds, log_file_count
FROM longest
LEFT JOIN (
    SELECT cluster, night, log_id, file_id, path
    FROM core.file_name
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
) USING (cluster, night, log_id, file_id)
ORDER BY log_id, coalesce(open_start_seconds, read_start_seconds, write_start_seconds), path
