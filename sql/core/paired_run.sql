-- ---
-- about = "A run as it is compared with another of its lineage: how long it took and what on, what it did, and its findings."
-- grain = ["log_id"]
-- reads = ["main.logs", "core.run_shape", "core.io_part", "main.verdicts"]
-- ---
WITH judged AS (
    SELECT
        cluster, night, log_id,
        COALESCE(list(code ORDER BY code) FILTER (is_finding), []) AS finding_codes,
        -- A finding that could not be assessed in one of both runs is neither new nor gone.
        COALESCE(list(code ORDER BY code) FILTER (is_finding OR state = 'unknown'), []) AS possible_codes,
        SUM(charged_core_seconds) FILTER (is_finding) AS cost_core_seconds
    FROM (
        SELECT *, state = 'fired' AND level IN ('high', 'warn') AS is_finding
        FROM main.verdicts
        WHERE ruleset = 'iomine'
    )
    GROUP BY cluster, night, log_id
)
SELECT
    log_id, lineage_id, uid, "user", application, start_at, nprocs, run_seconds, slowest_rank_io_seconds, io_core_seconds,
    read_part_core_seconds, write_part_core_seconds, meta_part_core_seconds, waiting_part_core_seconds,
    read_bytes, write_bytes, read_count, write_count, open_count, file_count, osts_per_file, cost_core_seconds, finding_codes, possible_codes,
    night, cluster
FROM main.logs
LEFT JOIN (SELECT cluster, night, log_id, open_count, file_count, osts_per_file FROM core.run_shape) AS run_shape USING (cluster, night, log_id)
LEFT JOIN core.io_part AS io_part USING (cluster, night, log_id)
LEFT JOIN judged USING (cluster, night, log_id)
