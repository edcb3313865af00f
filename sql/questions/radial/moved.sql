-- ---
-- about = "Traced requests of a log counted by what is asked for of rank, OST and file, by time and value; -1 for what is not known."
-- parts = ["requested", "top_file"]
-- reads = ["core.link_node"]
-- # is_each: whether ranks stand by themselves, and not with those of their arc.
-- parameters = ["by_rank", "by_ost", "by_file", "is_each", "begin", "width", "bins", "least", "most", "value_bins", "most_cells"]
-- ---
WITH arc AS (
    SELECT node_id AS rank, MIN(node_id) OVER (PARTITION BY arc) AS first_rank
    FROM (
        SELECT DISTINCT node_id, arc
        FROM core.link_node
        WHERE cluster = $cluster AND night = $night AND log_id = $log_id
            AND node_level = 'rank' AND stretch = 'run' AND arc IS NOT NULL
    )
),
valued AS (
    SELECT *, unnest([0, 1]) AS metric, unnest([seconds, length_bytes]) AS metric_value
    FROM requested
)
SELECT
    (op = 'write')::INTEGER AS op, metric,
    CASE WHEN NOT $by_rank THEN -1 WHEN $is_each THEN rank ELSE COALESCE(first_rank, -1) END::INTEGER AS rank,
    CASE WHEN $by_ost THEN COALESCE(ost, -1) ELSE -1 END::INTEGER AS ost,
    -- The number after the last is that of all other files.
    CASE WHEN $by_file THEN COALESCE(file_number, $most_files) ELSE -1 END::INTEGER AS file,
    LEAST(GREATEST(floor((start_seconds - $begin) / $width), 0), $bins - 1)::INTEGER AS "time",
    LEAST(
        GREATEST(
            floor(
                $value_bins * ln(GREATEST(metric_value, $least[metric + 1]) / $least[metric + 1])
                / ln($most[metric + 1] / $least[metric + 1])
            ),
            0
        ),
        $value_bins - 1
    )::INTEGER AS "value",
    COUNT(*)::DOUBLE AS "count", SUM(length_bytes)::DOUBLE AS bytes, AVG(metric_value) AS mean, MIN(metric_value) AS least,
    MAX(metric_value) AS most
FROM valued
LEFT JOIN arc USING (rank)
LEFT JOIN top_file USING (file_id)
GROUP BY ALL
LIMIT $most_cells
