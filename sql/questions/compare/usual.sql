-- ---
-- about = "The newest run of a lineage, and of those before it the one whose I/O time is nearest to the median: the usual one."
-- parts = ["cli/narrowed_log"]
-- reads = []
-- parameters = ["lineage_id"]
-- ---
WITH run AS (
    SELECT
        cluster, night, log_id, io_core_seconds,
        row_number() OVER (PARTITION BY cluster ORDER BY start_at DESC NULLS LAST, log_id DESC) AS place
    FROM narrowed_log
    WHERE lineage_id = $lineage_id::VARCHAR AND is_owner_confirmed IS DISTINCT FROM false
),
earlier AS (
    SELECT
        *, count(*) OVER of_lineage AS run_count,
        abs(io_core_seconds - median(io_core_seconds) OVER of_lineage) AS distance
    FROM run
    WHERE place > 1
    WINDOW of_lineage AS (PARTITION BY cluster)
),
usual AS (
    SELECT *
    FROM earlier
    -- Of several as near, the latest.
    QUALIFY row_number() OVER (PARTITION BY cluster ORDER BY distance NULLS LAST, place) = 1
)
SELECT
    newest.cluster, newest.night, newest.log_id, usual.night AS usual_night, usual.log_id AS usual_log_id,
    coalesce(run_count, 0) AS run_count
FROM (SELECT * FROM run WHERE place = 1) AS newest
LEFT JOIN usual USING (cluster)
ORDER BY newest.cluster
