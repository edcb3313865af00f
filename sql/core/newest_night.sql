-- ---
-- about = "The newest night of each machine, from which the last seven count back."
-- grain = ["cluster"]
-- reads = ["core.app_night"]
-- ---
-- No night is newer than today, whatever a log's clock said.
SELECT cluster, LEAST(MAX(night), current_date) AS last_night
FROM core.app_night
GROUP BY cluster
