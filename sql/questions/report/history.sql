-- ---
-- about = "The last twelve runs of a lineage up to each log, and how long I/O usually took in the hundred before it."
-- parts = []
-- reads = ["core.log", "main.findings", "core.owner_doubt"]
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
        log_id, lineage_id, start_at, nprocs, run_seconds, read_bytes, write_bytes, io_core_seconds,
        io_core_seconds / nullif(run_seconds * nprocs, 0) AS io_ratio
    FROM core.log
    SEMI JOIN wanted USING (lineage_id)
    -- A log that another user wrote is not a run of the lineage.
    ANTI JOIN core.owner_doubt USING (cluster, night, log_id)
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
),
usual AS (
    SELECT
        log.log_id AS of_log_id, count(earlier.io_core_seconds) AS earlier_run_count,
        quantile_cont(earlier.io_core_seconds, 0.1) AS usual_least_core_seconds,
        quantile_cont(earlier.io_core_seconds, 0.9) AS usual_most_core_seconds
    FROM numbered AS log
    JOIN numbered AS earlier ON earlier.lineage_id = log.lineage_id AND earlier.place BETWEEN log.place - 100 AND log.place - 1
    WHERE list_contains($log_ids, log.log_id)
    GROUP BY ALL
)
SELECT
    of_log_id, log_id, start_at, nprocs, run_seconds, read_bytes, write_bytes, io_core_seconds, io_ratio, finding_count,
    earlier_run_count, usual_least_core_seconds, usual_most_core_seconds
FROM shown
JOIN numbered USING (lineage_id, place)
LEFT JOIN usual USING (of_log_id)
ORDER BY place
