-- ---
-- about = "Phase classes of logs, how IOR replays them, and the stripes of their largest files whose layout has one component."
-- parts = []
-- reads = ["main.phase_class", "core.lustre_component"]
-- parameters = ["cluster", "log_ids", "first_night"]
-- ---
WITH class AS (
    FROM main.phase_class
    WHERE cluster = $cluster AND night >= $first_night::DATE AND list_contains($log_ids, log_id)
),
layout AS (
    -- Layouts of several components cannot be set by options of one command.
    SELECT cluster, night, log_id, file_id, any_value(stripe_count) AS stripe_count, any_value(stripe_bytes) AS stripe_bytes
    FROM core.lustre_component
    WHERE cluster = $cluster AND night >= $first_night::DATE AND list_contains($log_ids, log_id)
    GROUP BY ALL
    HAVING COUNT(DISTINCT (stripe_count, stripe_bytes)) = 1 AND MAX(component) = 0
        AND any_value(stripe_count) > 0 AND any_value(stripe_bytes) > 0
)
SELECT
    class.* EXCLUDE (cluster, night, law_ratio, first_offset_bytes, rank_step_bytes), stripe_count, stripe_bytes
FROM class
LEFT JOIN layout USING (cluster, night, log_id, file_id)
ORDER BY log_id, phase_class
