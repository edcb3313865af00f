-- ---
-- about = "How long logs' I/O would take on systems, the fastest first, and what their lineages' last runs say of such predictions."
-- parts = []
-- reads = ["main.predictions", "main.logs"]
-- # log_ids: of the logs; run_ids: of these and of earlier runs, from first_night on. system: NULL for all.
-- parameters = ["cluster", "log_ids", "run_ids", "first_night", "system"]
-- ---
WITH predicted AS (
    SELECT predictions.*, lineage_id, start_at
    FROM main.predictions
    JOIN main.logs USING (cluster, night, log_id)
    WHERE
        predictions.cluster = $cluster AND predictions.night >= $first_night::DATE AND list_contains($run_ids, predictions.log_id)
),
asked AS (
    SELECT * FROM predicted
    WHERE list_contains($log_ids, log_id) AND ($system::VARCHAR IS NULL OR system = $system::VARCHAR)
),
run AS (
    SELECT
        asked.log_id, asked.system, earlier.system AS run_system, earlier.log_id AS run_log_id,
        earlier.measured_seconds / earlier.predicted_seconds AS ratio
    FROM asked
    JOIN predicted AS earlier
        ON earlier.lineage_id = asked.lineage_id AND earlier.start_at < asked.start_at
        AND earlier.start_at >= asked.start_at - INTERVAL 30 DAY
    WHERE earlier.measured_seconds > 0 AND earlier.predicted_seconds > 0
),
counted AS (
    SELECT
        *, count(DISTINCT run_log_id) FILTER (run_system = system) OVER each AS here_count,
        count(DISTINCT run_log_id) OVER each AS any_count
    FROM run
    WINDOW each AS (PARTITION BY log_id, system)
),
calibration AS (
    -- Runs on the system itself say most; without five of these, all do.
    SELECT
        log_id, system, median(ratio) AS calibration_ratio, count(DISTINCT run_log_id) AS calibration_log_count,
        list_sort(list(DISTINCT run_system)) AS calibration_systems
    FROM counted
    WHERE CASE WHEN here_count >= 5 THEN run_system = system ELSE any_count >= 5 END
    GROUP BY log_id, system
)
SELECT
    log_id, system, predicted_seconds, least_predicted_seconds, most_predicted_seconds,
    CASE
        WHEN predicted_seconds IS NULL THEN 'unknown'
        WHEN row_number() OVER by_time = 1 THEN 'fastest'
        -- If intervals overlap, it is not known which system is faster.
        WHEN least_predicted_seconds <= first_value(most_predicted_seconds) OVER by_time THEN 'none'
        ELSE 'slower'
    END AS difference,
    measured_seconds, prediction_error_ratio, calibration_ratio, calibration_ratio * predicted_seconds AS calibrated_seconds,
    calibration_log_count, calibration_systems, predicted_bytes_ratio, unknown_class_count
FROM asked
LEFT JOIN calibration USING (log_id, system)
WINDOW by_time AS (PARTITION BY log_id ORDER BY predicted_seconds NULLS LAST, system)
ORDER BY start_at, log_id, predicted_seconds NULLS LAST, system
