-- ---
-- about = "Answers that wait for an input that is not read yet: the state of the file system while a log ran."
-- grain = ["log_id"]
-- reads = ["core.log"]
-- ---
SELECT
    log_id, cluster, night, FALSE AS is_complete,
    NULL::DOUBLE AS weather_slowdown_ratio, NULL::DOUBLE AS ost_contention_ratio
FROM (SELECT cluster, night, log_id FROM core.log) AS log
