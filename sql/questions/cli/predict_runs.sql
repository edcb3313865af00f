-- ---
-- about = "Logs, and the runs of their lineages in the 30 days before, by which predictions are calibrated."
-- parts = []
-- reads = ["main.logs"]
-- parameters = ["cluster", "log_ids"]
-- ---
SELECT DISTINCT run.night, run.log_id
FROM main.logs AS asked
JOIN main.logs AS run
    ON run.cluster = asked.cluster AND (
        run.log_id = asked.log_id
        OR (run.lineage_id = asked.lineage_id AND run.start_at < asked.start_at AND run.start_at >= asked.start_at - INTERVAL 30 DAY)
    )
WHERE asked.cluster = $cluster AND list_contains($log_ids, asked.log_id)
ORDER BY run.night, run.log_id
