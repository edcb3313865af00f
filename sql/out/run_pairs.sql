-- ---
-- about = "Each run of a lineage beside the one before it: how long both took and what on, what they did, and which findings came and went."
-- grain = ["cluster", "night", "log_id"]
-- reads = ["main.logs", "core.run_shape", "core.io_part", "main.verdicts"]
-- ---
WITH judged AS (
    SELECT
        cluster, night, log_id,
        COALESCE(list(code ORDER BY code) FILTER (is_finding), []) AS codes,
        -- What could not be assessed in one of both has neither come nor gone.
        COALESCE(list(code) FILTER (is_finding OR state = 'unknown'), []) AS possible_codes,
        SUM(charged_core_seconds) FILTER (is_finding) AS cost_core_seconds
    FROM (
        SELECT *, state = 'fired' AND level IN ('high', 'warn') AS is_finding
        FROM main.verdicts
        WHERE ruleset = 'iomine'
    )
    GROUP BY cluster, night, log_id
),
run AS (
    SELECT
        log.*, open_count, file_count, osts_per_file, read_part_core_seconds, write_part_core_seconds, meta_part_core_seconds,
        waiting_part_core_seconds, cost_core_seconds, codes, possible_codes
    FROM main.logs AS log
    LEFT JOIN core.run_shape AS run_shape USING (cluster, night, log_id)
    LEFT JOIN core.io_part AS io_part USING (cluster, night, log_id)
    LEFT JOIN judged USING (cluster, night, log_id)
    WHERE log.lineage_id IS NOT NULL AND is_owner_confirmed IS DISTINCT FROM false
),
numbered AS (
    SELECT *, row_number() OVER (
        -- Of runs that began in the same second, ids, which exports replace, come last.
        PARTITION BY cluster, lineage_id ORDER BY start_at, end_at, io_core_seconds, read_bytes, write_bytes, log_id
    ) AS number
    FROM run
)
SELECT
    run.log_id, earlier.log_id AS earlier_log_id, run.lineage_id, run.uid, run."user", run.application,
    run.start_at, earlier.start_at AS earlier_start_at, run.nprocs, earlier.nprocs AS earlier_rank_count,
    run.run_seconds, earlier.run_seconds AS earlier_run_seconds,
    run.slowest_rank_io_seconds, earlier.slowest_rank_io_seconds AS earlier_slowest_rank_io_seconds,
    run.io_core_seconds, earlier.io_core_seconds AS earlier_io_core_seconds,
    run.read_part_core_seconds, earlier.read_part_core_seconds AS earlier_read_part_core_seconds,
    run.write_part_core_seconds, earlier.write_part_core_seconds AS earlier_write_part_core_seconds,
    run.meta_part_core_seconds, earlier.meta_part_core_seconds AS earlier_meta_part_core_seconds,
    run.waiting_part_core_seconds, earlier.waiting_part_core_seconds AS earlier_waiting_part_core_seconds,
    run.read_bytes, earlier.read_bytes AS earlier_read_bytes, run.write_bytes, earlier.write_bytes AS earlier_write_bytes,
    run.read_count, earlier.read_count AS earlier_read_count, run.write_count, earlier.write_count AS earlier_write_count,
    run.open_count, earlier.open_count AS earlier_open_count, run.file_count, earlier.file_count AS earlier_file_count,
    run.osts_per_file, earlier.osts_per_file AS earlier_osts_per_file,
    run.cost_core_seconds, earlier.cost_core_seconds AS earlier_cost_core_seconds,
    list_filter(run.codes, lambda code: NOT list_contains(earlier.possible_codes, code)) AS new_codes,
    list_filter(earlier.codes, lambda code: NOT list_contains(run.possible_codes, code)) AS gone_codes,
    run.night, run.cluster
FROM numbered AS run
JOIN numbered AS earlier
    ON earlier.cluster = run.cluster AND earlier.lineage_id = run.lineage_id AND earlier.number = run.number - 1
