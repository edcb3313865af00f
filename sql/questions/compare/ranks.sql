-- ---
-- about = "How long ranks of logs took in POSIX, STDIO and DFS, sorted: the longest of each of 200 groups at most."
-- parts = []
-- reads = ["core.rank_io"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
WITH timed AS (
    SELECT log_id, rank, coalesce(read_seconds, 0) + coalesce(write_seconds, 0) + coalesce(meta_seconds, 0) AS seconds
    FROM core.rank_io
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id) AND layer = 'all' AND rank >= 0
        -- Where a heat map was needed, bytes of ranks are known and their times are not.
        AND evidence IS DISTINCT FROM 'heatmap'
),
placed AS (
    SELECT log_id, seconds, ntile(200) OVER (PARTITION BY log_id ORDER BY seconds DESC, rank) AS place
    FROM timed
)
SELECT log_id, place, max(seconds) AS rank_seconds, count(*) AS rank_count
FROM placed
GROUP BY log_id, place
ORDER BY log_id, place
