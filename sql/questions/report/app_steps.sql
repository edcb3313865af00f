-- ---
-- about = "Steps of a program above its calls, as a tracer names them, and the I/O within them; at most 12, those with most I/O first."
-- parts = []
-- reads = ["main.app_phase"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
WITH per_step AS (
    SELECT
        log_id, app_layer, app_step, count(*) AS step_count, count(DISTINCT rank) AS rank_count,
        sum(end_seconds - start_seconds ORDER BY start_seconds, end_seconds) AS step_seconds,
        sum(read_seconds ORDER BY read_seconds) AS read_seconds, sum(write_seconds ORDER BY write_seconds) AS write_seconds,
        sum(read_bytes)::DOUBLE AS read_bytes, sum(write_bytes)::DOUBLE AS write_bytes
    FROM main.app_phase
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
    GROUP BY log_id, app_layer, app_step
)
SELECT
    *, count(*) OVER (PARTITION BY log_id) AS log_step_count,
    -- Nested steps hold the same I/O, and the innermost of them says most.
    row_number() OVER (PARTITION BY log_id ORDER BY read_seconds + write_seconds DESC, step_seconds, app_step) AS place
FROM per_step
-- If no step has I/O, only the first one is shown.
QUALIFY place <= 12 AND (place = 1 OR read_seconds + write_seconds > 0)
ORDER BY log_id, place
