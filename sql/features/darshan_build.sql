-- ---
-- about = "What Darshan of one version saw on a machine in a night: what one log shows that it can count holds for the others."
-- grain = ["cluster", "night", "darshan_version"]
-- reads = ["core.log", "core.posix_file"]
-- ---
SELECT cluster, night, darshan_version, TRY_CAST(SUM(stat_count) AS BIGINT) AS stat_count
FROM core.posix_file
JOIN core.log USING (cluster, night, log_id)
GROUP BY ALL
