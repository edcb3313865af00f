-- ---
-- about = "How long a log's I/O would take its mean rank on each system that IOR has measured, and how wrong that was on the system where it ran."
-- grain = ["log_id", "system"]
-- reads = ["main.class_predictions"]
-- ---
WITH log AS (
    SELECT
        cluster, night, log_id, system, bool_and(predicted_seconds IS NOT NULL) FILTER (is_relevant) AS is_known,
        SUM(predicted_seconds) AS predicted, SUM(least_predicted_seconds) AS least, SUM(most_predicted_seconds) AS most,
        SUM(rank_call_seconds) FILTER (predicted_seconds IS NOT NULL) AS measured,
        bool_and(is_own_system) FILTER (predicted_seconds IS NOT NULL) AS is_own,
        SUM(weight_ratio) FILTER (predicted_seconds IS NOT NULL) AS predicted_bytes_ratio,
        COUNT(*) FILTER (predicted_seconds IS NULL) AS unknown_class_count
    FROM main.class_predictions
    GROUP BY ALL
)
SELECT
    log_id, system,
    -- A sum without its main parts would be taken for the whole.
    CASE WHEN is_known THEN predicted END AS predicted_seconds,
    CASE WHEN is_known THEN least END AS least_predicted_seconds,
    CASE WHEN is_known THEN most END AS most_predicted_seconds,
    is_own AS is_own_system,
    CASE WHEN is_own AND is_known THEN measured END AS measured_seconds,
    predicted_seconds / NULLIF(measured_seconds, 0) - 1 AS prediction_error_ratio,
    COALESCE(predicted_bytes_ratio, 0) AS predicted_bytes_ratio, unknown_class_count, night, cluster
FROM log
ORDER BY cluster, night, log_id, predicted_seconds NULLS LAST, system
