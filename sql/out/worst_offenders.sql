-- ---
-- about = "Who loses most that they can change: applications of a user, with what their findings cost, the facility's part of it, and whether it grows."
-- grain = ["user", "uid", "app"]
-- reads = ["main.offenders"]
-- ---
SELECT
    "user", uid, app, log_count, io_core_seconds, run_core_seconds, io_ratio, finding_count, cost_core_seconds,
    facility_cost_core_seconds, read_bytes, write_bytes, first_night, last_night, finding_log_count, account,
    recent_cost_core_seconds, recent_facility_cost_core_seconds, preceding_cost_core_seconds, preceding_facility_cost_core_seconds,
    cost_change_ratio, doubtful_log_count
FROM main.offenders
WHERE grouped_by = 'user and app'
ORDER BY
    cost_core_seconds - COALESCE(facility_cost_core_seconds, 0) DESC NULLS LAST, io_core_seconds DESC NULLS LAST, log_count DESC,
    uid, "user", app
