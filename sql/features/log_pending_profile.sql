-- ---
-- about = "Answers that wait for inputs that are not read yet: phases, loads of OSTs, the state of the file system."
-- grain = ["log_id"]
-- reads = ["core.log"]
-- ---
SELECT
    log_id, cluster, night, FALSE AS is_complete,
    NULL::BIGINT AS io_phase_count, NULL::BIGINT AS phase_straggler_count, NULL::DOUBLE AS ost_max_over_mean_ratio,
    NULL::DOUBLE AS weather_slowdown_ratio, NULL::DOUBLE AS ost_contention_ratio
FROM (SELECT cluster, night, log_id FROM core.log) AS log
