-- ---
-- about = "What findings cost by night: the sum of what their logs are charged, and the facility's part of it."
-- parts = ["fired"]
-- reads = []
-- parameters = []
-- ---
SELECT
    recipient, "user", night, count(DISTINCT (cluster, log_id)) AS run_count,
    sum(charged_core_seconds ORDER BY cluster, log_id, code) AS cost_core_seconds,
    sum(charged_core_seconds * is_facility_cause::INTEGER ORDER BY cluster, log_id, code) AS facility_cost_core_seconds
FROM fired
GROUP BY ALL
ORDER BY ALL
