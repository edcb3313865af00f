-- ---
-- about = "Each run of a lineage beside the one before it: how long both took and what on, what they did, and which findings came and went."
-- grain = ["cluster", "night", "log_id"]
-- reads = ["main.logs", "core.paired_run"]
-- ---
WITH pair AS (
    SELECT
        cluster, night, log_id,
        lag({night: night, log_id: log_id}) OVER (
            -- Of runs that began in the same second, ids, which exports replace, come last.
            PARTITION BY cluster, lineage_id ORDER BY start_at, end_at, io_core_seconds, read_bytes, write_bytes, log_id
        ) AS before
    FROM main.logs
    WHERE lineage_id IS NOT NULL AND is_owner_confirmed IS DISTINCT FROM false
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
    list_filter(run.finding_codes, lambda code: NOT list_contains(earlier.possible_codes, code)) AS new_codes,
    list_filter(earlier.finding_codes, lambda code: NOT list_contains(run.possible_codes, code)) AS gone_codes,
    run.night, run.cluster
FROM pair
JOIN core.paired_run AS run USING (cluster, night, log_id)
JOIN core.paired_run AS earlier ON earlier.cluster = pair.cluster AND earlier.night = before.night AND earlier.log_id = before.log_id
