-- ---
-- about = "Who moved most on an OST, by application, as far as layouts are known."
-- parts = ["subject_run"]
-- reads = ["core.ost_io"]
-- parameters = ["name", "since", "until"]
-- ---
SELECT
    "user", uid, application, try_cast(sum(moved_bytes) AS BIGINT) AS moved_bytes, count(DISTINCT log_id) AS log_count,
    max(night) AS last_night
FROM core.ost_io AS moved
JOIN (SELECT cluster, night, log_id, "user", uid, application FROM subject_run) AS run USING (cluster, night, log_id)
WHERE
    night BETWEEN $since AND $until AND layer = 'posix' AND moved_bytes > 0
    AND format('OST{:04x}', ost_id) = regexp_extract($name, 'OST[0-9a-f]{4,}$')
GROUP BY "user", uid, application
ORDER BY moved_bytes DESC NULLS LAST, "user", uid, application
LIMIT 20
