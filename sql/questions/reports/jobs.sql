-- ---
-- about = "Jobs with several logs, one of them of these nights, and with findings; with the first and the last night that has a log."
-- parts = []
-- reads = ["core.log", "main.findings"]
-- # Clusters and nights go together; the first and the last night lie some days before and after them.
-- parameters = ["clusters", "nights", "first_night", "last_night"]
-- ---
WITH due AS (SELECT unnest($clusters::VARCHAR[]) AS cluster, unnest($nights::DATE[]) AS night, true AS is_due),
job AS (
    SELECT cluster, job_id, min(night) AS first_night, max(night) AS last_night
    FROM core.log
    LEFT JOIN due USING (cluster, night)
    WHERE night BETWEEN $first_night::DATE AND $last_night::DATE AND job_id <> ''
    GROUP BY cluster, job_id
    HAVING count(*) > 1 AND bool_or(is_due)
)
FROM job
SEMI JOIN (
    SELECT cluster, job_id
    FROM main.findings
    WHERE night BETWEEN $first_night::DATE AND $last_night::DATE
) USING (cluster, job_id)
ORDER BY ALL
