-- ---
-- about = "The last sweep of each machine, and how old its newest night is."
-- parts = []
-- reads = ["main.sweeps", "main.logs", "main.findings", "core.owner_doubt"]
-- parameters = []
-- ---
WITH last_sweep AS (
    SELECT cluster, start_at, end_at, found_count, ingested_count, known_count, rejected_count, statistics_rejected_count
    FROM main.sweeps
    QUALIFY row_number() OVER (PARTITION BY cluster ORDER BY start_at DESC, sweep_id) = 1
),
newest AS (
    SELECT cluster, max(night) AS night
    FROM main.logs
    GROUP BY cluster
),
finding_sum AS (
    SELECT finding.cluster, count(*) AS finding_count
    FROM main.findings AS finding
    ANTI JOIN core.owner_doubt AS owner_doubt USING (cluster, night, log_id)
    JOIN newest ON finding.cluster = newest.cluster AND finding.night = newest.night
    GROUP BY finding.cluster
)
SELECT
    last_sweep.*, newest.night, coalesce(finding_sum.finding_count, 0) AS finding_count
FROM last_sweep
LEFT JOIN newest ON last_sweep.cluster = newest.cluster
LEFT JOIN finding_sum ON last_sweep.cluster = finding_sum.cluster
ORDER BY last_sweep.cluster
