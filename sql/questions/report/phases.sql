-- ---
-- about = "The ten longest phases of a log, in order."
-- parts = []
-- reads = ["main.phases"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT
    log_id, phase, start_seconds, end_seconds, read_bytes, write_bytes, rank_count, straggler_count, slowest_rank,
    slowest_rank_seconds, evidence, count(*) OVER (PARTITION BY log_id) AS log_phase_count
FROM main.phases
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id) AND layer = 'all'
QUALIFY row_number() OVER (PARTITION BY log_id ORDER BY end_seconds - start_seconds DESC, phase) <= 10
ORDER BY phase
