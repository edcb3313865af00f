-- ---
-- about = "Sums over the nights before, and over the nights after."
-- parts = ["run"]
-- reads = ["main.findings"]
-- parameters = []
-- ---
WITH priced AS (
    SELECT cluster, night, log_id, count(*) AS finding_count, sum(charged_core_seconds) AS cost_core_seconds,
        sum(charged_core_seconds * is_facility_cause::INTEGER) AS facility_cost_core_seconds
    FROM main.findings
    GROUP BY cluster, night, log_id
)
SELECT
    min(night) AS first_night, max(night) AS last_night, count(DISTINCT night) AS night_count, count(*) AS log_count,
    sum(io_core_seconds) / nullif(sum(run_core_seconds) FILTER (WHERE io_core_seconds IS NOT NULL), 0) AS io_ratio,
    coalesce(sum(finding_count), 0)::BIGINT AS finding_count,
    sum(cost_core_seconds) AS cost_core_seconds, sum(facility_cost_core_seconds) AS facility_cost_core_seconds
FROM run
LEFT JOIN priced USING (cluster, night, log_id)
GROUP BY is_after
ORDER BY is_after
