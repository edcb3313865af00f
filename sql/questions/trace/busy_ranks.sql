-- ---
-- about = "Ranks that spend more than twice as long in a layer as its median rank."
-- parts = ["traced"]
-- reads = []
-- parameters = []
-- ---
WITH spent AS (SELECT log_id, layer, rank, sum(end_seconds - start_seconds) AS seconds FROM traced WHERE is_sound GROUP BY ALL),
usual AS (SELECT log_id, layer, median(seconds) AS seconds FROM spent GROUP BY ALL)
SELECT DISTINCT log_id, rank
-- Each layer is compared alone, because requests of MPI-IO wait for those of POSIX.
FROM spent JOIN usual USING (log_id, layer)
WHERE spent.seconds > 2 * usual.seconds
ORDER BY rank
