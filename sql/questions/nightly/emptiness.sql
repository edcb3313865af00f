-- ---
-- about = "How many of the last sweeps of a machine found logs, the newest sweep left out."
-- parts = []
-- reads = ["main.sweeps"]
-- parameters = ["cluster", "sweep_count", "sweep_id"]
-- ---
SELECT count(*) AS sweep_count, count(*) FILTER (found_count > 0) AS with_logs_count
FROM (
    SELECT found_count
    FROM main.sweeps
    WHERE cluster = $cluster AND sweep_id != $sweep_id
    ORDER BY start_at DESC, sweep_id
    LIMIT $sweep_count
) AS last_sweeps
