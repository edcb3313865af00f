-- ---
-- about = "Findings of certain runs in words."
-- parts = []
-- reads = ["main.findings"]
-- # Findings are given as clusters, nights, log_ids and codes that go together; the other nights are the first and the last of them.
-- parameters = ["clusters", "nights", "log_ids", "codes", "first_night", "last_night"]
-- ---
WITH wanted AS (
    SELECT
        unnest($clusters::VARCHAR[]) AS cluster, unnest($nights::DATE[]) AS night, unnest($log_ids::VARCHAR[]) AS log_id,
        unnest($codes::VARCHAR[]) AS code
)
SELECT cluster, log_id, code, finding, advice
FROM wanted
JOIN (SELECT * FROM main.findings WHERE night BETWEEN $first_night::DATE AND $last_night::DATE) AS found USING (cluster, night, log_id, code)
