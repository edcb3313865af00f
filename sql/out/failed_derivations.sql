-- ---
-- about = "What could not be worked out of a log, and why; verdicts that need it are not `clear`."
-- grain = ["log_id", "derivation"]
-- reads = ["core.failed_derivation", "core.log"]
-- ---
SELECT failed.log_id, failed.cluster, failed.night, failed.derivation, failed.error, log.job_id, log."user", log.app, log.path
FROM core.failed_derivation AS failed
LEFT JOIN core.log AS log USING (cluster, night, log_id)
