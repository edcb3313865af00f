-- ---
-- about = "Sums of users and programs over nights, the worst first."
-- parts = ["narrowed_night"]
-- reads = []
-- # worst_by: 'cost', 'io', 'findings' or 'bytes'.
-- parameters = ["worst_by", "most_rows"]
-- ---
WITH offender AS (
    SELECT
        "user", uid, app,
        sum(log_count)::BIGINT AS log_count,
        sum(io_core_seconds) AS io_core_seconds,
        sum(run_core_seconds) AS run_core_seconds,
        sum(io_core_seconds) / nullif(sum(timed_core_seconds), 0) AS io_ratio,
        sum(finding_count)::BIGINT AS finding_count,
        sum(cost_core_seconds) AS cost_core_seconds,
        sum(facility_cost_core_seconds) AS facility_cost_core_seconds,
        try_cast(sum(read_bytes) AS BIGINT) AS read_bytes,
        try_cast(sum(write_bytes) AS BIGINT) AS write_bytes,
        min(night) AS first_night,
        max(night) AS last_night,
        sum(doubtful_log_count)::BIGINT AS doubtful_log_count
    FROM narrowed_night
    GROUP BY "user", uid, app
)
SELECT * FROM offender
ORDER BY
    CASE $worst_by::VARCHAR
        WHEN 'cost' THEN cost_core_seconds - coalesce(facility_cost_core_seconds, 0)
        WHEN 'io' THEN io_core_seconds
        WHEN 'findings' THEN finding_count
        ELSE read_bytes::DOUBLE + write_bytes
    END DESC NULLS LAST,
    io_core_seconds DESC NULLS LAST, log_count DESC, uid, "user", app
LIMIT $most_rows::BIGINT
