-- ---
-- about = "How far the trace of each log goes."
-- parts = ["traced"]
-- reads = []
-- parameters = []
-- ---
SELECT
    log_id, count(*) AS request_count, count(*) FILTER (is_sound) AS sound_count, max(rank) AS highest_rank,
    max(end_seconds) FILTER (is_sound) AS last_seconds,
    quantile_cont(end_seconds - start_seconds, 0.95) FILTER (is_sound) AS slow_seconds
FROM traced
GROUP BY log_id
HAVING sound_count > 0
ORDER BY log_id
