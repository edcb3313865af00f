-- ---
-- about = "On which OSTs runs moved most, as far as their layouts are known."
-- parts = ["subject_run"]
-- reads = ["core.ost_io"]
-- parameters = ["since", "until"]
-- ---
SELECT
    format('OST{:04x}', ost_id) AS target, try_cast(sum(moved_bytes) AS BIGINT) AS moved_bytes,
    count(DISTINCT log_id) AS log_count, max(night) AS last_night
FROM core.ost_io AS moved
SEMI JOIN subject_run USING (cluster, night, log_id)
WHERE night BETWEEN $since AND $until AND ost_id >= 0 AND moved_bytes > 0 AND layer = 'posix'
GROUP BY ost_id
ORDER BY moved_bytes DESC NULLS LAST, target
LIMIT 10
