-- ---
-- about = "The runs that lose most in requests that findings are about, and then those that take longest in I/O."
-- parts = ["subject_run"]
-- reads = []
-- parameters = []
-- ---
SELECT
    start_at, "user", uid, application, job_id, cost_core_seconds / 3600 AS cost_core_hours,
    facility_cost_core_seconds / 3600 AS facility_cost_core_hours, io_core_seconds / 3600 AS io_core_hours,
    io_ratio, nprocs, run_seconds, read_bytes, write_bytes, finding_count, log_id, night, cluster
FROM subject_run
ORDER BY cost_core_seconds - coalesce(facility_cost_core_seconds, 0) DESC NULLS LAST, io_core_seconds DESC NULLS LAST, log_id
LIMIT 20
