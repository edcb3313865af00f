-- ---
-- about = "Files of the runs whose findings cost most, each with the costliest of these runs."
-- parts = []
-- reads = ["main.findings", "core.file_name", "core.owner_doubt"]
-- parameters = ["since", "until", "cluster", "most_runs", "most"]
-- ---
WITH found AS (
    SELECT cluster, night, log_id, sum(charged_core_seconds) AS core_seconds
    FROM main.findings
    ANTI JOIN core.owner_doubt USING (cluster, night, log_id)
    WHERE night BETWEEN $since AND $until AND ($cluster IS NULL OR cluster = $cluster)
    GROUP BY cluster, night, log_id
    ORDER BY core_seconds DESC NULLS LAST, log_id
    LIMIT $most_runs
)
SELECT path AS name, arg_max(log_id, core_seconds ORDER BY log_id) AS log_id
FROM (SELECT * FROM core.file_name WHERE night BETWEEN $since AND $until)
JOIN found USING (cluster, night, log_id)
WHERE path <> ''
GROUP BY path
ORDER BY max(core_seconds) DESC NULLS LAST, path
LIMIT $most
