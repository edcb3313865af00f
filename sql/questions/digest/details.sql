-- ---
-- about = "Findings of certain runs in words, and how slow servers were for these runs, under whose load."
-- parts = []
-- reads = ["main.findings", "main.job_weather"]
-- # Findings are given as clusters, nights, log_ids and codes that go together; the other nights are the first and the last of them.
-- parameters = ["clusters", "nights", "log_ids", "codes", "first_night", "last_night"]
-- ---
WITH wanted AS (
    SELECT
        unnest($clusters::VARCHAR[]) AS cluster, unnest($nights::DATE[]) AS night, unnest($log_ids::VARCHAR[]) AS log_id,
        unnest($codes::VARCHAR[]) AS code
)
SELECT cluster, log_id, code, finding, advice, weather_slowdown_ratio, own_ratio
FROM wanted
JOIN (SELECT * FROM main.findings WHERE night BETWEEN $first_night::DATE AND $last_night::DATE) AS found USING (cluster, night, log_id, code)
LEFT JOIN (
    SELECT cluster, night, log_id, weather_slowdown_ratio, own_ratio
    FROM main.job_weather
    WHERE night BETWEEN $first_night::DATE AND $last_night::DATE
) USING (cluster, night, log_id)
