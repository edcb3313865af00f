-- ---
-- about = "Findings of certain runs in words, and these runs."
-- parts = []
-- reads = ["main.findings", "main.logs", "core.module"]
-- # Findings are given as clusters, nights, log_ids and codes that go together; the other nights are the first and the last of them.
-- parameters = ["clusters", "nights", "log_ids", "codes", "first_night", "last_night"]
-- ---
WITH wanted AS (
    SELECT
        unnest($clusters::VARCHAR[]) AS cluster, unnest($nights::DATE[]) AS night, unnest($log_ids::VARCHAR[]) AS log_id,
        unnest($codes::VARCHAR[]) AS code
)
SELECT
    found.cluster, found.log_id, found.code, found.finding, found.advice, found.evidence, found.cost_core_seconds,
    log.night, log.job_id, log.app, log.exe, log.nprocs, log.run_seconds, has_hdf5
FROM wanted
JOIN (SELECT * FROM main.findings WHERE night BETWEEN $first_night::DATE AND $last_night::DATE) AS found USING (cluster, night, log_id, code)
JOIN (SELECT * FROM main.logs WHERE night BETWEEN $first_night::DATE AND $last_night::DATE) AS log USING (cluster, night, log_id)
LEFT JOIN (
    SELECT cluster, night, log_id, bool_or(module IN ('H5F', 'H5D')) AS has_hdf5
    FROM core.module
    WHERE night BETWEEN $first_night::DATE AND $last_night::DATE AND log_id IN (SELECT unnest($log_ids::VARCHAR[]))
    GROUP BY ALL
) USING (cluster, night, log_id)
