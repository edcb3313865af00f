-- ---
-- about = "How many of the node-hours of each machine left a log, and how many logs are of no known job."
-- parts = []
-- reads = ["main.coverage"]
-- parameters = ["first_night", "last_night"]
-- ---
SELECT
    cluster, sum(logged_node_hours) / nullif(sum(node_hours), 0) AS logged_ratio, sum(log_count)::BIGINT AS log_count,
    sum(jobless_log_count)::BIGINT AS jobless_log_count
FROM main.coverage
WHERE night BETWEEN $first_night AND $last_night
GROUP BY cluster
ORDER BY cluster
