-- ---
-- about = "Jobs of a night that moved bytes over the fabric, those that moved most first; a log without a job is one by itself."
-- parts = []
-- reads = ["core.job_route", "core.log"]
-- parameters = ["cluster", "night"]
-- ---
SELECT
    coalesce(nullif(log.job_id, ''), log.log_id) AS job, any_value(log.user ORDER BY log_id) AS "user",
    any_value(log.app ORDER BY log_id) AS app, sum(routed_bytes)::DOUBLE AS routed_bytes,
    any_value(fabric_evidence ORDER BY fabric_evidence) AS fabric_evidence
FROM core.job_route
JOIN core.log USING (cluster, night, log_id)
WHERE job_route.cluster = $cluster AND job_route.night = $night
GROUP BY job
ORDER BY routed_bytes DESC NULLS LAST, job
