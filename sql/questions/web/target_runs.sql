-- ---
-- about = "The runs that moved most on an OST, as far as layouts are known."
-- parts = ["subject_run"]
-- reads = ["core.ost_io"]
-- parameters = ["name", "since", "until"]
-- ---
SELECT
    start_at, "user", uid, application, job_id, bytes AS moved_bytes, cost_core_seconds / 3600 AS cost_core_hours,
    facility_cost_core_seconds / 3600 AS facility_cost_core_hours,
    io_core_seconds / 3600 AS io_core_hours, nprocs, run_seconds, log_id, night, cluster
FROM subject_run
JOIN (
    SELECT cluster, night, log_id, try_cast(sum(moved_bytes) AS BIGINT) AS bytes
    FROM core.ost_io
    WHERE
        night BETWEEN $since AND $until AND layer = 'posix' AND moved_bytes > 0
        AND format('OST{:04x}', ost_id) = regexp_extract($name, 'OST[0-9a-f]{4,}$')
    GROUP BY cluster, night, log_id
) AS moved USING (cluster, night, log_id)
ORDER BY moved_bytes DESC NULLS LAST, log_id
LIMIT 20
