-- ---
-- about = "Logs of the newest nights of each machine."
-- parts = []
-- reads = ["core.log", "core.newest_night"]
-- parameters = ["night_count"]
-- ---
SELECT cluster, job_id, log_id
FROM core.log
JOIN core.newest_night USING (cluster)
WHERE night > last_night - $night_count::INTEGER
