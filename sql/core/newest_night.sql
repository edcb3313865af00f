-- ---
-- about = "The newest night of each machine, and how many of the last seven and of the seven before have logs."
-- grain = ["cluster"]
-- reads = ["core.app_night", "core.log"]
-- ---
-- No night is newer than today, whatever a log's clock said; and one whose logs all had a wrong clock is a guess.
WITH guessed AS (
    SELECT cluster, night
    FROM core.log
    GROUP BY ALL
    HAVING COUNT(end_at) = 0
),
dated AS (
    SELECT DISTINCT cluster, night
    FROM core.app_night
    ANTI JOIN guessed USING (cluster, night)
),
newest AS (
    SELECT cluster, LEAST(MAX(night), (now() AT TIME ZONE 'UTC')::DATE) AS last_night
    FROM dated
    GROUP BY cluster
)
SELECT
    cluster, last_night,
    COUNT(*) FILTER (WHERE last_night - night BETWEEN 0 AND 6) AS recent_night_count,
    COUNT(*) FILTER (WHERE last_night - night BETWEEN 7 AND 13) AS preceding_night_count
FROM newest
JOIN dated USING (cluster)
GROUP BY ALL
