-- ---
-- about = "The fewest merged classes that hold so much of a machine's bytes or time, the heaviest first, and after them what has no line."
-- parts = []
-- reads = ["main.workload_mix"]
-- # weighed_by: 'bytes' or 'cost'. cover: the share to hold. Nights and machine are variables of the view.
-- parameters = ["weighed_by", "cover"]
-- ---
WITH weighed AS (
    SELECT
        *,
        CASE $weighed_by::VARCHAR WHEN 'cost' THEN workload_seconds_ratio ELSE workload_bytes_ratio END AS workload_ratio,
        CASE $weighed_by::VARCHAR WHEN 'cost' THEN cumulative_seconds_ratio ELSE cumulative_bytes_ratio END AS cumulative_ratio
    FROM main.workload_mix
),
before AS (
    SELECT
        *, ior_options IS NOT NULL AS has_line,
        COUNT(*) OVER () AS workload_class_count, SUM(unweighed_class_count) OVER ()::BIGINT AS all_unweighed_class_count,
        COALESCE(lag(cumulative_ratio) OVER (ORDER BY has_line DESC, cumulative_ratio, workload_ratio DESC, workload_class), 0) AS ratio_before
    FROM weighed
)
SELECT * EXCLUDE (has_line, ratio_before)
FROM before
WHERE NOT has_line OR (workload_ratio > 0 AND ratio_before < $cover::DOUBLE)
ORDER BY has_line DESC, cumulative_ratio, workload_class
