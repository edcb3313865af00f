-- ---
-- about = "When the phases of a log's twelve phase classes that move most were; those within a 480th of the run are one row."
-- parts = []
-- reads = ["main.phase_class", "core.log", "core.phase"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
WITH class AS (
    SELECT log_id, phase_class, layer, phase_numbers
    FROM main.phase_class
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
    QUALIFY row_number() OVER (PARTITION BY log_id ORDER BY weight_ratio DESC NULLS LAST, phase_class) <= 12
),
numbered AS (
    SELECT log_id, phase_class, layer, unnest(phase_numbers) AS phase FROM class
),
known AS (
    SELECT log_id, layer, phase, start_seconds, end_seconds
    FROM core.phase
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id) AND layer <> 'all'
),
run AS (
    SELECT log_id, run_seconds
    FROM core.log
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
),
placed AS (
    SELECT
        log_id, phase_class, start_seconds, end_seconds,
        GREATEST(run_seconds, MAX(end_seconds) OVER (PARTITION BY log_id)) / 480 AS cell_seconds
    FROM numbered
    JOIN known USING (log_id, layer, phase)
    JOIN run USING (log_id)
    WHERE isfinite(start_seconds) AND isfinite(end_seconds)
)
SELECT
    log_id, phase_class, MIN(start_seconds) AS start_seconds, MAX(end_seconds) AS end_seconds, COUNT(*) AS phase_count
FROM placed
-- Phases of a class follow each other, so that few cells share their first and their last.
GROUP BY log_id, phase_class, floor(start_seconds / NULLIF(cell_seconds, 0)), floor(end_seconds / NULLIF(cell_seconds, 0))
ORDER BY log_id, phase_class, start_seconds
