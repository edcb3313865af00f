-- ---
-- about = "The part of a log's I/O time that each cost is about: files whose costs come in the same order are one group."
-- grain = ["log_id", "claim_group", "cost_name"]
-- reads = [
--     "core.file_time", "core.request_time", "core.data_file", "core.striped_file", "core.traced_overlap", "core.mpiio_file",
--     "core.shared_mpiio_file", "core.amplified_file", "core.transformed_file", "core.log_rank_profile", "core.log_phase_profile",
--     "core.log_ost_profile", "core.synced_file", "core.slow_file", "core.waited_file", "core.burst_file", "core.posix_file",
--     "core.stdio_file", "core.rank_time", "core.ost_pace", "core.lustre_component",
-- ]
-- ---
-- Costs of several findings may be about the same requests, which took their time once. So the time of a file is parted by kind
-- (reads, writes, metadata calls, and in MPI-IO waiting for those that move the data, and other waiting or exchange), and of each part only the highest claim counts. Which of the costs have a
-- finding depends on thresholds; where files have their claims in the same order the highest is the same for all of them, whichever
-- costs are left out, so these files can be added up beforehand without changing any sum.
WITH file_time AS MATERIALIZED (
    -- Asked for once here, since each view that it is asked for in takes its time to plan. Each part of a file's time gets a number:
    -- millions of claims are added up by it sooner than by its five columns.
    SELECT *, row_number() OVER () AS part
    FROM core.file_time
),
called AS (
    SELECT cluster, night, log_id, file_id, list_sum(list_sort(list(read_seconds))) AS read_seconds, list_sum(list_sort(list(write_seconds))) AS write_seconds
    FROM core.mpiio_file
    GROUP BY ALL
),
of_requests AS (
    SELECT
        cluster, night, log_id, file_id, op AS time_kind,
        unnest([
            {cost_name: 'small_' || op || '_core_seconds', seconds: small_seconds},
            {cost_name: 'backward_' || op || '_core_seconds', seconds: backward_seconds},
            {cost_name: 'misaligned_core_seconds', seconds: CASE WHEN NOT is_beneath_mpiio THEN misaligned_seconds END},
            {cost_name: CASE op WHEN 'read' THEN 'reread_core_seconds' ELSE 'rewritten_core_seconds' END, seconds: again_seconds}
        ], recursive := true)
    FROM core.request_time
    UNION ALL
    SELECT
        cluster, night, log_id, file_id, op AS time_kind,
        unnest([
            {cost_name: 'ranks_reread_core_seconds', seconds: CASE WHEN op = 'read' AND is_of_ranks THEN ranks_seconds END},
            {cost_name: 'overwritten_core_seconds', seconds: CASE WHEN op = 'write' AND is_of_ranks THEN ranks_seconds END},
            {cost_name: 'shared_stripe_core_seconds', seconds: CASE WHEN op = 'write' THEN shared_stripe_seconds END},
            {cost_name: 'straddle_core_seconds', seconds: CASE WHEN fits_stripe THEN straddle_seconds END}
        ], recursive := true)
    FROM core.traced_overlap
    UNION ALL
    SELECT cluster, night, log_id, file_id, op, op || '_amplification_core_seconds', amplification_seconds
    FROM core.amplified_file
    UNION ALL
    SELECT cluster, night, log_id, file_id, 'read', 'sieve_read_core_seconds', sieve_seconds
    FROM core.transformed_file
    WHERE op = 'write'
    UNION ALL
    SELECT cluster, night, log_id, file_id, 'write', 'sync_core_seconds', synced_seconds
    FROM core.synced_file
    WHERE is_frequent
    UNION ALL
    SELECT cluster, night, log_id, file_id, op, 'slow_file_core_seconds', excess_seconds
    FROM core.slow_file
    WHERE is_slow_file
    UNION ALL
    SELECT cluster, night, log_id, file_id, 'waiting', 'late_core_seconds', late_seconds
    FROM core.waited_file
),
-- The time of an MPI-IO call is that of its POSIX requests, and waiting.
of_calls AS (
    SELECT cluster, night, log_id, file_id, 'read' AS op, 'indep_read_core_seconds' AS cost_name, indep_read_seconds AS seconds
    FROM core.shared_mpiio_file
    UNION ALL
    SELECT cluster, night, log_id, file_id, 'write', 'indep_write_core_seconds', indep_write_seconds
    FROM core.shared_mpiio_file
    UNION ALL
    SELECT cluster, night, log_id, file_id, op, 'stayed_small_core_seconds', stayed_seconds
    FROM core.transformed_file
    WHERE has_many_ranks
),
parted_calls AS (
    SELECT
        cluster, night, log_id, file_id, op, cost_name, list_sum(list_sort(list(seconds))) AS seconds,
        -- POSIX may have requests of the file that are of no such call, so their time may be longer than that of the calls; a file
        -- without any has no row, and LEAST would ignore its NULL.
        any_value(LEAST(COALESCE(kind_seconds, 0), CASE op WHEN 'read' THEN read_seconds ELSE write_seconds END))
            * LEAST(1, list_sum(list_sort(list(seconds))) / NULLIF(any_value(CASE op WHEN 'read' THEN read_seconds ELSE write_seconds END), 0))
            AS beneath_seconds
    FROM of_calls
    JOIN called USING (cluster, night, log_id, file_id)
    LEFT JOIN (SELECT * RENAME (time_kind AS op) FROM file_time) AS file_time USING (cluster, night, log_id, file_id, op)
    WHERE seconds > 0
    GROUP BY ALL
),
of_files AS (
    SELECT
        part, kind_seconds,
        unnest([
            {cost_name: 'own_file_core_seconds', seconds: CASE WHEN is_own AND time_kind = 'meta' THEN kind_seconds END},
            {cost_name: 'small_file_core_seconds', seconds: CASE WHEN is_small THEN kind_seconds END},
            {cost_name: 'stdio_core_seconds', seconds: kind_seconds * stdio_core_seconds / NULLIF(io_core_seconds, 0)}
        ], recursive := true)
    FROM core.data_file
    JOIN file_time USING (cluster, night, log_id, file_id)
    WHERE time_kind IN ('read', 'write', 'meta')
    UNION ALL
    SELECT
        part, kind_seconds,
        unnest([
            {cost_name: 'single_ost_core_seconds', seconds: CASE WHEN is_on_one_ost AND time_kind <> 'meta' THEN kind_seconds END},
            {cost_name: 'striped_shared_core_seconds', seconds: CASE WHEN is_on_few_osts AND time_kind <> 'meta' THEN kind_seconds END},
            {cost_name: 'overstriped_core_seconds', seconds: CASE WHEN is_overstriped AND time_kind <> 'held' THEN kind_seconds END}
        ], recursive := true)
    FROM core.striped_file
    JOIN file_time USING (cluster, night, log_id, file_id)
    WHERE time_kind <> 'waiting'
    UNION ALL
    SELECT part, kind_seconds, 'meta_core_seconds', kind_seconds
    FROM file_time
    WHERE time_kind = 'meta'
    UNION ALL
    SELECT part, kind_seconds, 'create_core_seconds', kind_seconds
    FROM core.burst_file
    JOIN file_time USING (cluster, night, log_id, file_id)
    WHERE time_kind = 'meta'
),
-- Costs that are known of ranks, phases or OSTs, but not of files, are spread by their time over the files of these ranks or OSTs, as
-- far as these are known, or else over all files.
of_log AS (
    SELECT
        cluster, night, log_id,
        unnest([
            {cost_name: 'straggler_core_seconds', kinds: ['read', 'write'], seconds: straggler_core_seconds},
            {cost_name: 'imbalance_core_seconds', kinds: ['read', 'write', 'held', 'waiting'], seconds: imbalance_core_seconds},
            {cost_name: 'rank0_read_core_seconds', kinds: ['read', 'held', 'waiting'], seconds: rank0_read_core_seconds},
            {cost_name: 'rank0_write_core_seconds', kinds: ['write', 'held', 'waiting'], seconds: rank0_write_core_seconds},
            {cost_name: 'rank0_core_seconds', kinds: ['read', 'write', 'held', 'waiting'], seconds: rank0_core_seconds}
        ], recursive := true)
    FROM core.log_rank_profile
    UNION ALL
    SELECT cluster, night, log_id, 'phase_straggler_core_seconds', ['read', 'write', 'meta', 'held', 'waiting'], phase_straggler_core_seconds
    FROM core.log_phase_profile
    UNION ALL
    SELECT
        cluster, night, log_id,
        unnest([
            {cost_name: 'busiest_ost_core_seconds', kinds: ['read', 'write'], seconds: busiest_ost_core_seconds},
            {cost_name: 'slow_ost_core_seconds', kinds: ['read', 'write'], seconds: slow_ost_core_seconds}
        ], recursive := true)
    FROM core.log_ost_profile
),
slow_rank AS (
    SELECT cluster, night, log_id, layer, rank
    FROM core.rank_time
    WHERE is_slow_rank
),
ranked AS (
    SELECT cluster, night, log_id, 'posix' AS layer, rank, file_id FROM core.posix_file
    UNION ALL
    SELECT cluster, night, log_id, 'stdio', rank, file_id FROM core.stdio_file
),
named_ost AS (
    SELECT cluster, night, log_id, 'slow_ost_core_seconds' AS cost_name, ost_id FROM core.ost_pace WHERE is_slow
    UNION ALL
    SELECT cluster, night, log_id, 'busiest_ost_core_seconds', busiest_ost_id FROM core.log_ost_profile
),
named_file AS (
    SELECT cluster, night, log_id, 'straggler_core_seconds' AS cost_name, file_id
    FROM ranked
    SEMI JOIN slow_rank USING (cluster, night, log_id, layer, rank)
    UNION
    SELECT cluster, night, log_id, 'straggler_core_seconds', file_id
    FROM (FROM ranked WHERE rank < 0)
    SEMI JOIN slow_rank USING (cluster, night, log_id, layer)
    UNION
    SELECT cluster, night, log_id, cost_name, file_id
    FROM core.lustre_component
    JOIN named_ost USING (cluster, night, log_id)
    WHERE list_contains(ost_ids, ost_id)
),
-- Of these files' parts of the right kind.
spread_by_name AS (
    SELECT cluster, night, log_id, part, cost_name, seconds, kind_seconds
    FROM named_file
    JOIN of_log USING (cluster, night, log_id, cost_name)
    JOIN file_time USING (cluster, night, log_id, file_id)
    WHERE seconds > 0 AND list_contains(kinds, time_kind)
),
spreading AS (
    FROM spread_by_name
    UNION ALL
    SELECT cluster, night, log_id, part, cost_name, seconds, kind_seconds
    FROM of_log
    ANTI JOIN spread_by_name USING (cluster, night, log_id, cost_name)
    JOIN file_time USING (cluster, night, log_id)
    WHERE seconds > 0 AND list_contains(kinds, time_kind)
),
-- In order, and in no window, whose sums depend on the order of rows: the last digit is the same each time.
spread_over AS (
    SELECT cluster, night, log_id, cost_name, list_sum(list_sort(list(kind_seconds))) AS all_seconds
    FROM spreading
    GROUP BY ALL
),
spread AS (
    SELECT part, kind_seconds, cost_name, seconds * kind_seconds / all_seconds AS seconds
    FROM spreading
    JOIN spread_over USING (cluster, night, log_id, cost_name)
),
of_parts AS (
    FROM of_requests
    UNION ALL BY NAME
    SELECT * EXCLUDE (op, beneath_seconds) REPLACE (beneath_seconds AS seconds), op AS time_kind FROM parted_calls
    UNION ALL BY NAME
    -- Of what calls waited, those that move the data of all get their part: both kinds of waiting are in the same calls.
    SELECT
        parted_calls.* EXCLUDE (op, beneath_seconds)
            REPLACE ((seconds - COALESCE(beneath_seconds, 0)) * COALESCE(kind_seconds / NULLIF(file_waiting, 0), 1) AS seconds),
        time_kind
    FROM parted_calls
    JOIN (
        SELECT *, SUM(kind_seconds) OVER (PARTITION BY cluster, night, log_id, file_id) AS file_waiting
        FROM file_time
        WHERE time_kind IN ('held', 'waiting')
    ) AS waited USING (cluster, night, log_id, file_id)
),
-- A cost of requests and calls may come in several parts, one for each layer. DuckDB sorts short lists in half the time that its
-- ordered aggregates take.
of_parts_together AS (
    SELECT part, kind_seconds, cost_name, list_sum(list_sort(list(seconds))) AS seconds
    FROM of_parts
    JOIN file_time USING (cluster, night, log_id, file_id, time_kind)
    WHERE seconds > 0
    GROUP BY ALL
),
-- As an ENUM, by whose numbers DuckDB sorts and groups lists in half the time; in alphabetical order, which numbers groups.
named AS (
    SELECT
        part, kind_seconds, seconds, cost_name::ENUM(
            'backward_read_core_seconds', 'backward_write_core_seconds', 'busiest_ost_core_seconds', 'create_core_seconds',
            'imbalance_core_seconds', 'indep_read_core_seconds', 'indep_write_core_seconds', 'late_core_seconds',
            'meta_core_seconds', 'misaligned_core_seconds', 'overstriped_core_seconds', 'overwritten_core_seconds',
            'own_file_core_seconds', 'phase_straggler_core_seconds', 'rank0_core_seconds', 'rank0_read_core_seconds',
            'rank0_write_core_seconds', 'ranks_reread_core_seconds', 'read_amplification_core_seconds', 'reread_core_seconds',
            'rewritten_core_seconds', 'shared_stripe_core_seconds', 'sieve_read_core_seconds', 'single_ost_core_seconds',
            'slow_file_core_seconds', 'slow_ost_core_seconds', 'small_file_core_seconds', 'small_read_core_seconds',
            'small_write_core_seconds', 'stayed_small_core_seconds', 'stdio_core_seconds', 'straddle_core_seconds',
            'straggler_core_seconds', 'striped_shared_core_seconds', 'sync_core_seconds', 'write_amplification_core_seconds'
        ) AS cost_name
    FROM (FROM of_parts_together UNION ALL BY NAME FROM of_files UNION ALL BY NAME FROM spread)
),
-- A claim is never more than there was. The highest comes first.
ordered AS (
    SELECT part, list_sort(list({below: -LEAST(seconds, kind_seconds), cost_name: cost_name})) AS costs
    FROM named
    WHERE seconds > 0
    GROUP BY part
),
grouped AS (
    SELECT
        cluster, night, log_id, time_kind, list_transform(costs, lambda cost: cost.cost_name) AS cost_names,
        flatten(list(costs)) AS claims
    FROM ordered
    JOIN file_time USING (part)
    GROUP BY ALL
),
numbered AS (
    SELECT
        *, row_number() OVER () AS number,
        row_number() OVER (PARTITION BY cluster, night, log_id ORDER BY time_kind, cost_names) AS claim_group
    FROM grouped
),
added_up AS (
    SELECT number, cost_name, list_sum(list_sort(list(-below))) AS claim_core_seconds
    FROM (SELECT number, unnest(claims, recursive := true) FROM numbered)
    GROUP BY ALL
)
SELECT log_id, claim_group, cost_name::VARCHAR AS cost_name, claim_core_seconds, night, cluster
FROM added_up
JOIN numbered USING (number)
