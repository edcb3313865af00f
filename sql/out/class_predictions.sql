-- ---
-- about = "How long a phase class would take on each system that IOR has measured: waiting, exchange, and its bytes by IOR's data time."
-- grain = ["log_id", "phase_class", "system"]
-- reads = ["main.phase_class", "core.log", "core.file_name", "core.ior_test"]
-- ---
-- Each step reads the one before and nothing twice, so that a condition on nights or logs reaches the tables.
WITH class AS (
    SELECT
        cluster, night, log_id, phase_class, layer, op, access, is_collective, rank_count, request_bytes, block_bytes, moved_bytes,
        ior_options, weight_ratio, is_relevant, rank_wait_seconds, rank_exchange_seconds, rank_call_seconds, start_at AS log_start_at, mount,
        -- Nobody waits in requests that are not collective.
        COALESCE(rank_wait_seconds + rank_exchange_seconds, CASE WHEN NOT is_collective THEN 0.0 END) AS program_seconds,
        CASE
            WHEN layer = 'stdio' THEN 'IOR does not measure buffered streams.'
            WHEN access = 'mixed' THEN 'Ranks share some of its files and others not, which IOR does not do in one test.'
            WHEN request_bytes IS NULL OR request_bytes <= 0 THEN 'The size of its requests is not known.'
            WHEN rank_count IS NULL OR rank_count <= 0 THEN 'The number of its ranks is not known.'
            WHEN program_seconds IS NULL THEN 'Without a trace of MPI-IO and POSIX nobody knows how long ranks wait in its calls.'
        END AS lack
    FROM main.phase_class
    JOIN (SELECT cluster, night, log_id, start_at FROM core.log) AS log USING (cluster, night, log_id)
    LEFT JOIN (SELECT cluster, night, log_id, file_id, mount FROM core.file_name) AS file_name USING (cluster, night, log_id, file_id)
    WHERE moved_bytes > 0
),
system AS (
    -- If an output does not say where it wrote, and there is no other output, the name of the cluster decides.
    SELECT
        system, list(DISTINCT {'cluster': cluster, 'path': CASE WHEN starts_with(test_path, '/') THEN test_path END}) AS places
    FROM core.ior_test
    GROUP BY system
),
placed AS (
    SELECT
        class.*, system.system,
        len(list_filter(places, lambda place: place.cluster = class.cluster
            AND COALESCE(starts_with(place.path, rtrim(mount, '/') || '/'), place.path IS NULL AND system.system = class.cluster))) > 0
            AS is_own_system
    FROM class
    CROSS JOIN system
),
nearest AS (
    SELECT
        placed.*, test.op = placed.op AS is_same_op, is_buffered,
        abs(log2(ior_transfer_bytes / request_bytes)) + abs(log2(nprocs / rank_count)) AS ior_distance,
        output_path, test.test, repetition_count, mean_seconds_per_byte, least_seconds_per_byte, most_seconds_per_byte
    FROM placed
    LEFT JOIN core.ior_test AS test
        -- One task shares its file with nobody.
        ON lack IS NULL AND test.system = placed.system AND (is_shared = (access = 'shared') OR nprocs = 1)
        -- Writes through aggregators need four tests: themselves and reads, each with and without.
        AND ((test.op = placed.op AND NOT is_buffered) OR (placed.op = 'write' AND program_seconds > 0))
        -- Above two doublings in all, IOR measured something else.
        AND abs(log2(ior_transfer_bytes / request_bytes)) + abs(log2(nprocs / rank_count)) <= 2
    -- Of tests equally near: the class's interface, its blocks, and the one that ran nearest in time.
    QUALIFY row_number() OVER (
        PARTITION BY placed.cluster, placed.night, log_id, phase_class, placed.system, test.op, is_buffered
        ORDER BY
            ior_distance, lower(api) <> layer, abs(log2(ior_block_bytes / NULLIF(block_bytes, 0))) NULLS LAST,
            abs(epoch(start_at) - epoch(log_start_at)) NULLS LAST, output_path, test.test, test.cluster
    ) = 1
),
chosen AS (
    SELECT
        * EXCLUDE (
            is_same_op, is_buffered, ior_distance, output_path, test, repetition_count, mean_seconds_per_byte, least_seconds_per_byte,
            most_seconds_per_byte
        ),
        MAX(ior_distance) FILTER (is_same_op AND NOT is_buffered) AS ior_distance,
        MAX(output_path) FILTER (is_same_op AND NOT is_buffered) AS output_path,
        MAX(test) FILTER (is_same_op AND NOT is_buffered) AS test,
        MAX(repetition_count) FILTER (is_same_op AND NOT is_buffered) AS repetition_count,
        MAX(mean_seconds_per_byte) FILTER (is_same_op AND NOT is_buffered) AS plain_mean,
        MAX(least_seconds_per_byte) FILTER (is_same_op AND NOT is_buffered) AS plain_least,
        MAX(most_seconds_per_byte) FILTER (is_same_op AND NOT is_buffered) AS plain_most,
        MAX(mean_seconds_per_byte) FILTER (is_same_op AND is_buffered) AS gathered_mean,
        MAX(least_seconds_per_byte) FILTER (is_same_op AND is_buffered) AS gathered_least,
        MAX(most_seconds_per_byte) FILTER (is_same_op AND is_buffered) AS gathered_most,
        -- The cost of gathering reads is exchange, which the class has as a number of its own.
        MAX(mean_seconds_per_byte) FILTER (NOT is_same_op AND is_buffered)
            - MAX(mean_seconds_per_byte) FILTER (NOT is_same_op AND NOT is_buffered) AS exchange_mean,
        MAX(least_seconds_per_byte) FILTER (NOT is_same_op AND is_buffered)
            - MAX(most_seconds_per_byte) FILTER (NOT is_same_op AND NOT is_buffered) AS exchange_least,
        MAX(most_seconds_per_byte) FILTER (NOT is_same_op AND is_buffered)
            - MAX(least_seconds_per_byte) FILTER (NOT is_same_op AND NOT is_buffered) AS exchange_most
    FROM nearest
    GROUP BY ALL
),
paced AS (
    SELECT
        *,
        -- Without all three other tests, writes through aggregators are taken to cost storage what plain ones do.
        CASE WHEN plain_mean IS NOT NULL THEN GREATEST(
            plain_mean,
            CASE WHEN exchange_mean > 0 THEN gathered_mean - exchange_mean WHEN exchange_mean <= 0 THEN gathered_mean END
        ) END AS mean,
        GREATEST(
            plain_least,
            CASE WHEN exchange_most > 0 THEN gathered_least - exchange_most WHEN exchange_most <= 0 THEN gathered_least END
        ) AS least,
        GREATEST(
            plain_most,
            CASE WHEN exchange_least > 0 THEN gathered_most - exchange_least WHEN exchange_least <= 0 THEN gathered_most END
        ) AS most
    FROM chosen
)
SELECT
    log_id, phase_class, system, layer, op, rank_count, request_bytes, moved_bytes, weight_ratio, is_relevant,
    rank_wait_seconds, rank_exchange_seconds, rank_call_seconds,
    program_seconds + moved_bytes * mean AS predicted_seconds,
    CASE WHEN mean IS NOT NULL THEN 0.95 * (program_seconds + moved_bytes * least) END AS least_predicted_seconds,
    CASE WHEN mean IS NOT NULL THEN 1.05 * (program_seconds + moved_bytes * most) END AS most_predicted_seconds,
    is_own_system, ior_distance, repetition_count, output_path, test,
    CASE WHEN mean IS NULL THEN COALESCE(lack, 'IOR has measured nothing like it there.') END AS reason,
    CASE WHEN mean IS NULL AND lack IS NULL THEN 'mpiexec -n ' || rank_count || ' ior ' || ior_options END AS ior_line,
    night, cluster
FROM paced
ORDER BY cluster, night, log_id, system, phase_class
