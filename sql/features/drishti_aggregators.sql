-- ---
-- about = "How many aggregators the hint cb_nodes asks for in one log that used MPI-IO, against the nodes that the log names."
-- grain = ["log_id"]
-- reads = ["core.log", "core.apmpi_rank", "core.dxt_file", "core.metadata", "core.module"]
-- ---
WITH placed_rank AS (
    SELECT cluster, night, log_id, rank, host
    FROM core.dxt_file
    UNION
    SELECT cluster, night, log_id, rank, host
    FROM core.apmpi_rank
),
placed AS (
    SELECT
        cluster, night, log_id,
        COUNT(DISTINCT rank) FILTER (WHERE rank >= 0 AND host <> '') AS rank_count,
        COUNT(DISTINCT host) FILTER (WHERE rank >= 0 AND host <> '') AS host_count
    FROM placed_rank
    GROUP BY ALL
),
hint AS (
    -- The last one counts, as in Drishti.
    SELECT cluster, night, log_id, MAX(regexp_extract_all(entry, '(?:^|;)cb_nodes=([^;]*)', 1)[-1]) AS cb_nodes
    FROM core.metadata
    WHERE key = 'h'
    GROUP BY ALL
),
module AS (
    SELECT DISTINCT cluster, night, log_id
    FROM core.module
    WHERE module = 'MPI-IO'
),
per_log AS (
    SELECT
        log.log_id, log.cluster, log.night,
        CASE WHEN module.log_id IS NOT NULL THEN cb_nodes END AS cb_nodes,
        -- Hosts of some ranks only could be fewer than the job had.
        CASE WHEN rank_count >= nprocs THEN host_count END AS job_node_count
    FROM (SELECT cluster, night, log_id, nprocs FROM core.log) AS log
    LEFT JOIN placed USING (cluster, night, log_id)
    LEFT JOIN hint USING (cluster, night, log_id)
    LEFT JOIN module USING (cluster, night, log_id)
)
SELECT
    log_id, cluster, night,
    -- Drishti believes the scheduler's accounting alone, and without it gives no answer.
    FALSE AS is_complete,
    TRY_CAST(cb_nodes AS BIGINT) AS aggregator_count,
    job_node_count,
    CASE WHEN job_node_count IS NOT NULL THEN 1 END::BIGINT AS node_evidence,
    (cb_nodes <> job_node_count::VARCHAR)::BIGINT AS aggregators_differ,
    (cb_nodes > job_node_count::VARCHAR)::BIGINT - (cb_nodes < job_node_count::VARCHAR)::BIGINT AS aggregator_order
FROM per_log
