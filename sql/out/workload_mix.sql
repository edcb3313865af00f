-- ---
-- about = "What a machine's programs do to its file systems: phase classes of all logs, alike ones merged, with their weight and an IOR line."
-- grain = ["cluster", "workload_class"]
-- reads = ["main.phase_class", "core.log", "core.owner_doubt"]
-- ---
-- What is merged depends on what is asked for, so the variables first_night and only_cluster select later nights or one machine.
-- Seconds are added up as whole microseconds: sums of floats differ in the last digit from time to time, and order what follows.
WITH RECURSIVE class AS (
    SELECT
        cluster, night, log_id, phase_class, layer, op, access, request_order, is_collective, moved_bytes, ior_options, replay_fidelity,
        replay_reason, ior_options IS NOT NULL AS has_line,
        TRY_CAST(round(rank_call_seconds * caller_count * 1e6) AS HUGEINT) AS core_microseconds,
        -- Classes without a line are not compared by size: those of one kind are one class.
        CASE WHEN has_line THEN rank_count END AS rank_count,
        CASE WHEN has_line THEN requests_per_rank END AS requests_per_rank,
        CASE WHEN has_line THEN bytes_per_rank END AS bytes_per_rank,
        CASE WHEN has_line THEN request_bytes END AS request_bytes
    FROM main.phase_class
    ANTI JOIN core.owner_doubt USING (cluster, night, log_id)
    WHERE
        (getvariable('first_night') IS NULL OR night >= getvariable('first_night')::DATE)
        AND (getvariable('only_cluster') IS NULL OR cluster = getvariable('only_cluster'))
),
variant AS (
    SELECT
        cluster, has_line, layer, op, access, request_order, is_collective, rank_count, requests_per_rank, bytes_per_rank, request_bytes,
        ior_options,
        SUM(moved_bytes) AS moved_bytes,
        SUM(core_microseconds) AS core_microseconds,
        COUNT(*) AS class_count,
        COUNT(*) FILTER (moved_bytes IS NULL OR core_microseconds IS NULL) AS unweighed_class_count,
        list(log_id) AS log_ids,
        -- The id comes last: pseudonyms are in another order.
        MAX({night: night, phase_class: phase_class, fidelity: replay_fidelity, reason: replay_reason, log_id: log_id}) AS example
    FROM class
    GROUP BY ALL
),
weighed AS (
    SELECT *, SUM(moved_bytes) OVER same AS same_bytes, row_number() OVER (same ORDER BY moved_bytes DESC NULLS LAST, ior_options) AS place
    FROM variant
    WINDOW same AS (
        PARTITION BY
            cluster, has_line, layer, op, access, request_order, is_collective, rank_count, requests_per_rank, bytes_per_rank, request_bytes
    )
),
numbered AS (
    -- Variants that differ in nothing but their options are one point.
    SELECT
        *,
        dense_rank() OVER (
            ORDER BY
                same_bytes DESC NULLS LAST, cluster, has_line, layer, op, access, request_order, is_collective, rank_count,
                requests_per_rank, bytes_per_rank, request_bytes
        ) AS point
    FROM weighed
),
measured AS (
    SELECT
        point, dense_rank() OVER (ORDER BY cluster, has_line, layer, op, access, request_order, is_collective) AS kind,
        COALESCE(rank_count, 0)::DOUBLE AS ranks, COALESCE(requests_per_rank, 0)::DOUBLE AS requests,
        COALESCE(bytes_per_rank, 0)::DOUBLE AS bytes, COALESCE(request_bytes, 0)::DOUBLE AS request
    FROM numbered
    WHERE place = 1
),
-- Points on two sides of a gap in one measure are not alike. Each island between gaps is merged alone, in an eighth of the time.
by_ranks AS (
    SELECT *, lag(ranks) OVER (PARTITION BY kind ORDER BY ranks) < 0.9 * ranks AS is_apart
    FROM measured
),
rank_islands AS (
    SELECT * EXCLUDE (is_apart), COUNT(*) FILTER (is_apart) OVER (PARTITION BY kind ORDER BY ranks) AS rank_island
    FROM by_ranks
),
by_request AS (
    SELECT *, lag(request) OVER (PARTITION BY kind, rank_island ORDER BY request) < 0.9 * request AS is_apart
    FROM rank_islands
),
request_islands AS (
    SELECT *, COUNT(*) FILTER (is_apart) OVER (PARTITION BY kind, rank_island ORDER BY request) AS request_island
    FROM by_request
),
island AS (
    SELECT point, dense_rank() OVER (ORDER BY kind, rank_island, request_island) AS island, ranks, requests, bytes, request
    FROM request_islands
),
-- The heaviest point takes its like, then the heaviest of the remaining ones, and so on, on all islands at once.
joined USING KEY (point) AS (
    SELECT point, island, ranks, requests, bytes, request, NULL::BIGINT AS leader
    FROM island
    UNION
    SELECT free.point, free.island, free.ranks, free.requests, free.bytes, free.request, first.point
    FROM recurring.joined AS free
    JOIN (
        SELECT island, MIN({point: point, ranks: ranks, requests: requests, bytes: bytes, request: request}) AS first
        FROM recurring.joined
        WHERE leader IS NULL
        GROUP BY island
    ) AS heaviest USING (island)
    WHERE
        free.leader IS NULL
        AND LEAST(free.ranks, first.ranks) >= 0.9 * GREATEST(free.ranks, first.ranks)
        AND LEAST(free.requests, first.requests) >= 0.9 * GREATEST(free.requests, first.requests)
        AND LEAST(free.bytes, first.bytes) >= 0.9 * GREATEST(free.bytes, first.bytes)
        AND LEAST(free.request, first.request) >= 0.9 * GREATEST(free.request, first.request)
),
merged AS (
    SELECT
        leader AS point,
        SUM(moved_bytes) AS moved_bytes,
        SUM(core_microseconds) AS core_microseconds,
        SUM(class_count)::BIGINT AS class_count,
        SUM(unweighed_class_count)::BIGINT AS unweighed_class_count,
        len(list_distinct(flatten(list(log_ids)))) AS log_count
    FROM numbered
    JOIN (SELECT point, leader FROM joined) USING (point)
    GROUP BY leader
),
mix AS (
    SELECT
        leader.* EXCLUDE (moved_bytes, core_microseconds, class_count, unweighed_class_count, log_ids), merged.* EXCLUDE (point),
        row_number() OVER by_bytes AS workload_class,
        SUM(merged.moved_bytes) OVER by_bytes AS bytes_so_far, SUM(merged.moved_bytes) OVER machine AS all_bytes,
        SUM(merged.core_microseconds) OVER by_seconds AS microseconds_so_far,
        SUM(merged.core_microseconds) OVER machine AS all_microseconds
    FROM merged
    JOIN (FROM numbered WHERE place = 1) AS leader USING (point)
    WINDOW
        machine AS (PARTITION BY cluster),
        -- What has no line comes last: no line holds it.
        by_bytes AS (PARTITION BY cluster ORDER BY has_line DESC, merged.moved_bytes DESC NULLS LAST, point ROWS UNBOUNDED PRECEDING),
        by_seconds AS (PARTITION BY cluster ORDER BY has_line DESC, merged.core_microseconds DESC NULLS LAST, point ROWS UNBOUNDED PRECEDING)
)
SELECT
    workload_class, layer, op, access, request_order, is_collective, rank_count, requests_per_rank, bytes_per_rank, request_bytes,
    TRY_CAST(moved_bytes AS BIGINT) AS moved_bytes, core_microseconds / 1e6 AS request_core_seconds,
    moved_bytes / NULLIF(all_bytes, 0) AS workload_bytes_ratio,
    core_microseconds / NULLIF(all_microseconds, 0) AS workload_seconds_ratio,
    CASE WHEN has_line THEN bytes_so_far / NULLIF(all_bytes, 0) END AS cumulative_bytes_ratio,
    CASE WHEN has_line THEN microseconds_so_far / NULLIF(all_microseconds, 0) END AS cumulative_seconds_ratio,
    class_count, log_count, unweighed_class_count,
    ior_options, example.fidelity AS replay_fidelity, example.reason AS replay_reason,
    concat_ws(
        ', ', CASE rank_count WHEN 1 THEN '1 rank' ELSE rank_count || ' ranks' END,
        upper(layer) || CASE WHEN is_collective THEN ' collective ' ELSE ' ' END || op || 's',
        CASE access WHEN 'own' THEN 'a file of each rank''s own' WHEN 'shared' THEN 'shared files' WHEN 'mixed' THEN 'own and shared files' END,
        CASE requests_per_rank WHEN 1 THEN '1 request' ELSE requests_per_rank || ' requests' END || ' of ' || format_bytes(request_bytes),
        request_order
    ) AS class_words,
    example.log_id AS log_id, example.phase_class AS phase_class, app, example.night AS night, mix.cluster
FROM mix
LEFT JOIN (SELECT cluster, night, log_id, app FROM core.log) AS log
    ON log.cluster = mix.cluster AND log.night = example.night AND log.log_id = example.log_id
ORDER BY mix.cluster, workload_class
