-- ---
-- about = "Hosts and OSTs that were far slower than the others in jobs of the last seven nights, the least likely by chance first."
-- grain = ["cluster", "place_level", "place_name"]
-- reads = ["core.link_pattern", "core.link_node", "core.log", "core.newest_night"]
-- ---
-- Of three places none outlies. What a job of several logs met in any of them, it met.
WITH pattern AS (
    SELECT cluster, night, log_id, ring, node_level, op, outlying_nodes
    FROM core.link_pattern
    JOIN core.newest_night USING (cluster)
    WHERE night > last_night - 7 AND stretch = 'run' AND metric = 'latency' AND node_level IN ('host', 'ost')
        AND link_node_count >= 4
),
-- Without a job's id a log is one by itself.
place AS (
    SELECT
        cluster, COALESCE(job_id, log_id) AS job, node_level,
        CASE WHEN node_level = 'ost' THEN format('OST {} (OST{:04x})', node_id, node_id) ELSE COALESCE(host, node_label) END AS place_name,
        bool_or(list_contains(outlying_nodes, node_id)) AS is_outlying
    FROM pattern
    JOIN (
        SELECT cluster, night, log_id, ring, node_level, op, node_id, node_label, host
        FROM core.link_node
        WHERE stretch = 'run' AND metric = 'latency'
    ) USING (cluster, night, log_id, ring, node_level, op)
    LEFT JOIN (SELECT cluster, night, log_id, job_id FROM core.log) USING (cluster, night, log_id)
    WHERE place_name IS NOT NULL
    GROUP BY ALL
),
drawn AS (
    SELECT *, AVG(is_outlying::INTEGER) OVER (PARTITION BY cluster, job, node_level) AS probability
    FROM place
),
counted AS (
    SELECT
        cluster, node_level, place_name, COUNT(*) AS met_job_count, COUNT(*) FILTER (is_outlying) AS outlying_job_count,
        SUM(probability) AS expected_jobs, AVG(probability) AS mean
    FROM drawn
    GROUP BY ALL
    HAVING outlying_job_count > 0
)
SELECT
    node_level AS place_level, place_name, outlying_job_count, met_job_count, expected_jobs,
    -- Hoeffding 1956: from one above its mean on, so many hits in draws of different probability are at most as likely as in draws of
    -- their mean probability, which is binomial. Below that, nothing is said.
    CASE
        WHEN outlying_job_count < expected_jobs + 1 THEN 1
        ELSE LEAST(
            1,
            list_sum(
                list_transform(
                    range(outlying_job_count, met_job_count + 1),
                    lambda k:
                        exp(
                            lgamma(met_job_count + 1) - lgamma(k + 1) - lgamma(met_job_count - k + 1) + k * ln(mean)
                            + CASE WHEN k < met_job_count THEN (met_job_count - k) * ln(1 - mean) ELSE 0 END
                        )
                )
            )
        )
    END AS chance_ratio,
    cluster
FROM counted
ORDER BY chance_ratio, outlying_job_count DESC, place_level, place_name, cluster
