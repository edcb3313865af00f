-- ---
-- about = "The last twelve runs of a lineage up to each log."
-- parts = []
-- reads = ["core.log", "main.findings"]
-- parameters = [
--     "cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids", "first_history_night", "last_history_night",
-- ]
-- ---
WITH wanted AS (
    SELECT DISTINCT lineage_id
    FROM core.log
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
),
run AS (
    SELECT
        log_id, lineage_id, start_at, nprocs, run_seconds, read_bytes, write_bytes,
        io_core_seconds / nullif(run_seconds * nprocs, 0) AS io_ratio
    FROM core.log
    SEMI JOIN wanted USING (lineage_id)
    WHERE cluster = $cluster AND night BETWEEN $first_history_night AND $last_history_night
),
counted AS (
    SELECT log_id, count(*) AS finding_count
    FROM main.findings
    WHERE cluster = $cluster AND night BETWEEN $first_history_night AND $last_history_night
    GROUP BY ALL
),
numbered AS (
    SELECT
        * REPLACE (coalesce(finding_count, 0) AS finding_count),
        row_number() OVER (PARTITION BY lineage_id ORDER BY start_at, log_id) AS place
    FROM run
    LEFT JOIN counted USING (log_id)
),
shown AS (
    SELECT log_id AS of_log_id, lineage_id, unnest(range(place - 11, place + 1)) AS place
    FROM numbered
    WHERE list_contains($log_ids, log_id)
)
SELECT of_log_id, log_id, start_at, nprocs, run_seconds, read_bytes, write_bytes, io_ratio, finding_count
FROM shown
JOIN numbered USING (lineage_id, place)
ORDER BY place
