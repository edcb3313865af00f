-- ---
-- about = "Stretches of time in which a log reads, or writes, by layer and (layer all) as a whole, with the ranks that were out of line."
-- grain = ["log_id", "layer", "phase"]
-- reads = ["core.phase"]
-- ---
SELECT
    log_id, layer, phase, start_seconds, end_seconds, read_bytes, write_bytes, request_count, rank_count,
    fastest_rank, slowest_rank, fastest_rank_seconds, slowest_rank_seconds, straggler_count,
    read_count, write_count, file_count, run_ratio, evidence, op, sieve_read_bytes, bursts_per_rank, night, cluster
FROM core.phase
