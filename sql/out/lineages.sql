-- ---
-- about = "Lineages, which are repeated runs of the same: how often, since when, and what I/O usually takes; single runs are left out."
-- grain = ["cluster", "lineage_id"]
-- reads = ["main.logs"]
-- ---
WITH run AS (
    SELECT
        *, read_bytes::DOUBLE + write_bytes AS moved_bytes, moved_bytes / NULLIF(io_core_seconds, 0) AS bytes_per_core_second
    FROM main.logs
    WHERE lineage_id IS NOT NULL AND is_owner_confirmed IS DISTINCT FROM false
)
SELECT
    cluster, lineage_id, uid, MAX("user") AS "user", application, io_signature,
    MIN(nprocs) AS least_nprocs, MAX(nprocs) AS most_nprocs, COUNT(*) AS log_count,
    MIN(night) AS first_night, MAX(night) AS last_night,
    MEDIAN(io_core_seconds) AS usual_io_core_seconds, MAD(io_core_seconds) AS spread_io_core_seconds,
    TRY_CAST(MEDIAN(moved_bytes) AS BIGINT) AS usual_moved_bytes, TRY_CAST(MAD(moved_bytes) AS BIGINT) AS spread_moved_bytes,
    MEDIAN(bytes_per_core_second) AS usual_bytes_per_core_second, MAD(bytes_per_core_second) AS spread_bytes_per_core_second,
    SUM(io_core_seconds) AS io_core_seconds
FROM run
GROUP BY cluster, lineage_id, uid, application, io_signature
HAVING COUNT(*) > 1
ORDER BY io_core_seconds DESC NULLS LAST, lineage_id, cluster
