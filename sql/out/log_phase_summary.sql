-- ---
-- about = "The phases of one log in one layer, or (layer all) as a whole: how many, and how much of the run they take."
-- grain = ["log_id", "layer"]
-- reads = ["core.phase"]
-- ---
SELECT
    log_id, layer, MAX(evidence) AS evidence,
    COUNT(*) AS io_phase_count,
    COUNT(*) FILTER (read_bytes > 0) AS read_phase_count,
    COUNT(*) FILTER (write_bytes > 0) AS write_phase_count,
    COUNT(*) FILTER (straggler_count > 0) AS phase_straggler_count,
    SUM(end_seconds - start_seconds) AS phase_seconds,
    MAX(end_seconds - start_seconds) AS longest_phase_seconds,
    SUM(run_ratio) AS phases_ratio,
    MAX(end_seconds - start_seconds) / NULLIF(SUM(end_seconds - start_seconds), 0) AS longest_phase_ratio,
    night, cluster
FROM core.phase
GROUP BY log_id, layer, night, cluster
