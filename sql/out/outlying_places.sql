-- ---
-- about = "Hosts, OSTs and leaf switches at which more jobs of the last seven nights were far slower than by chance, the least likely first."
-- grain = ["cluster", "place_level", "place_name"]
-- reads = ["core.link_pattern", "core.link_node", "core.log", "core.log_link", "core.newest_night", "core.ost_io", "core.owner_doubt"]
-- ---
-- Among three places none can outlie. A job of several logs met what any of its logs met.
WITH pattern AS (
    SELECT cluster, night, log_id, ring, node_level, op, outlying_nodes
    FROM core.link_pattern
    JOIN core.newest_night USING (cluster)
    ANTI JOIN core.owner_doubt USING (cluster, night, log_id)
    WHERE night > last_night - 7 AND stretch = 'run' AND metric = 'latency' AND node_level IN ('host', 'ost')
        AND link_node_count >= 4
),
-- A log without a job's id counts as a job.
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
-- The nodes of a job are mostly on one switch, so no other part of it is faster: jobs are compared with others of their program.
pace AS (
    SELECT cluster, night, log_id, op, log10(list_sum(list_sort(list(request_seconds))) / SUM(moved_bytes)) AS pace_log10
    FROM core.ost_io
    JOIN core.newest_night USING (cluster)
    ANTI JOIN core.owner_doubt USING (cluster, night, log_id)
    WHERE night > last_night - 7 AND layer = 'posix' AND moved_bytes > 0 AND request_seconds > 0
    GROUP BY ALL
),
run AS (
    SELECT *, pace_log10 - MEDIAN(pace_log10) OVER program > GREATEST(3.5 * 1.4826 * MAD(pace_log10) OVER program, log10(2)) AS is_far
    FROM pace
    JOIN (SELECT cluster, night, log_id, COALESCE(job_id, log_id) AS job, lineage_id FROM core.log WHERE lineage_id IS NOT NULL)
        USING (cluster, night, log_id)
    WINDOW program AS (PARTITION BY cluster, lineage_id, op)
),
-- If more than a few jobs of a program outlie, the program has changed.
job AS (
    SELECT
        cluster, job, far_count <= CASE WHEN job_count < 8 THEN 1 ELSE GREATEST(2, job_count // 20) END AS has_few,
        is_far AND has_few AS is_outlying, CASE WHEN has_few THEN far_count / job_count ELSE 0 END AS probability
    FROM (
        SELECT
            cluster, job, bool_or(is_far) AS is_far, COUNT(*) OVER program AS job_count,
            COUNT(*) FILTER (bool_or(is_far)) OVER program AS far_count
        FROM run
        GROUP BY cluster, lineage_id, job
        WINDOW program AS (PARTITION BY cluster, lineage_id)
    )
    WHERE job_count >= 4
),
hung AS (
    SELECT DISTINCT
        cluster, COALESCE(job_id, log_id) AS job,
        CASE WHEN node_kind = 'switch' THEN COALESCE(device, guid) ELSE COALESCE(peer_device, peer_guid) END AS place_name
    FROM core.log_link
    JOIN (SELECT cluster, night, log_id, job_id FROM core.log) USING (cluster, night, log_id)
    JOIN core.newest_night USING (cluster)
    WHERE night > last_night - 7 AND is_host_link AND 'switch' IN (node_kind, peer_node_kind)
),
drawn AS (
    SELECT *, AVG(is_outlying::INTEGER) OVER (PARTITION BY cluster, job, node_level) AS probability
    FROM place
    UNION ALL
    SELECT cluster, job, 'switch', place_name, bool_or(is_outlying), LEAST(1, SUM(probability))
    FROM job
    JOIN hung USING (cluster, job)
    WHERE place_name IS NOT NULL
    GROUP BY ALL
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
    -- their mean probability, which is binomial.
    list_sum(
        list_transform(
            range(outlying_job_count, met_job_count + 1),
            lambda k:
                exp(
                    lgamma(met_job_count + 1) - lgamma(k + 1) - lgamma(met_job_count - k + 1) + k * ln(mean)
                    + CASE WHEN k < met_job_count THEN (met_job_count - k) * ln(1 - mean) ELSE 0 END
                )
        )
    ) AS chance_ratio,
    cluster
FROM counted
WHERE outlying_job_count >= expected_jobs + 1 AND chance_ratio < 1
ORDER BY chance_ratio, outlying_job_count DESC, place_level, place_name, cluster
