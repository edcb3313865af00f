-- ---
-- about = "How long one log's I/O took, compared with runs of its lineage in nights before, and how it differed from them."
-- grain = ["log_id"]
-- reads = ["core.owner_doubt", "core.run_shape"]
-- ---
-- Runs of the same night and of the same job may have met with the same trouble, so they do not show what is usual.
WITH run AS (
    SELECT *
    FROM core.run_shape
    WHERE lineage_id IS NOT NULL AND io_core_seconds > 0
),
-- Five of a night show what is usual as well as a thousand do; ids are hashes, so these are any five.
held AS (
    SELECT *
    FROM run
    -- A log that another user may have made shows nothing of what is usual.
    ANTI JOIN core.owner_doubt AS owner_doubt USING (cluster, night, log_id)
    QUALIFY row_number() OVER (PARTITION BY cluster, lineage_id, night ORDER BY log_id) <= 5
),
pair AS (
    SELECT
        run.cluster, run.night, run.log_id, run.io_core_seconds, held.io_core_seconds AS held_seconds,
        -- Ratio of both runs: a MiB, a hundred requests, ten opens and a few files do not count as a difference.
        (run.read_bytes + 1048576.0) / (held.read_bytes + 1048576.0) AS read_bytes_times,
        (run.write_bytes + 1048576.0) / (held.write_bytes + 1048576.0) AS write_bytes_times,
        (run.read_count + 100.0) / (held.read_count + 100.0) AS reads_times,
        (run.write_count + 100.0) / (held.write_count + 100.0) AS writes_times,
        (run.open_count + 10.0) / (held.open_count + 10.0) AS opens_times,
        (run.file_count + 4.0) / (held.file_count + 4.0) AS files_times,
        run.nprocs / NULLIF(held.nprocs, 0) AS ranks_times,
        run.osts_per_file / NULLIF(held.osts_per_file, 0) AS osts_times,
        -- More requests take longer, in proportion to the time that such requests took; fewer ranks, files or OSTs may do so too.
        GREATEST(
            (
                held.read_seconds * GREATEST(read_bytes_times, reads_times, 1)
                + held.write_seconds * GREATEST(write_bytes_times, writes_times, 1)
                + held.meta_seconds * GREATEST(opens_times, 1)
            ) / NULLIF(held.read_seconds + held.write_seconds + held.meta_seconds, 0),
            files_times, ranks_times, osts_times, 1 / LEAST(files_times, ranks_times, osts_times)
        ) AS more_times,
        GREATEST(
            read_bytes_times, write_bytes_times, reads_times, writes_times, opens_times, files_times, ranks_times, osts_times,
            1 / LEAST(
                read_bytes_times, write_bytes_times, reads_times, writes_times, opens_times, files_times, ranks_times, osts_times
            )
        ) < 1.5 AS is_alike
    FROM run
    JOIN held USING (cluster, lineage_id)
    -- Programs change; what a run of more than 30 nights ago took says little.
    WHERE held.night BETWEEN run.night - 30 AND run.night - 1 AND (run.job_id = '' OR held.job_id <> run.job_id)
),
per_log AS (
    SELECT
        cluster, night, log_id, COUNT(*) AS lineage_run_count, COUNT(*) FILTER (is_alike) AS alike_run_count,
        ANY_VALUE(io_core_seconds) / MEDIAN(held_seconds) AS lineage_ratio,
        ANY_VALUE(io_core_seconds) / MEDIAN(held_seconds) FILTER (is_alike) AS alike_ratio,
        -- Three runs show what is usual. If a single one did the same in far less time, the amount of work is not the cause.
        COALESCE(alike_run_count >= 3 OR alike_ratio >= 1.5, false) AS is_held_against_alike,
        [
            {'what': 'bytes read', 'times': MEDIAN(read_bytes_times)},
            {'what': 'bytes written', 'times': MEDIAN(write_bytes_times)},
            {'what': 'reads', 'times': MEDIAN(reads_times)},
            {'what': 'writes', 'times': MEDIAN(writes_times)},
            {'what': 'opens', 'times': MEDIAN(opens_times)},
            {'what': 'files', 'times': MEDIAN(files_times)},
            {'what': 'ranks', 'times': MEDIAN(ranks_times)},
            {'what': 'OSTs for each file', 'times': MEDIAN(osts_times)}
        ] AS medians,
        MEDIAN(more_times) AS more_times
    FROM pair
    GROUP BY ALL
    HAVING lineage_run_count >= 3
)
SELECT
    log_id, lineage_run_count, alike_run_count,
    CASE WHEN is_held_against_alike THEN alike_ratio ELSE lineage_ratio END AS run_slowdown_ratio,
    CASE WHEN NOT is_held_against_alike THEN more_times END AS did_more_ratio,
    CASE
        WHEN NOT is_held_against_alike
        THEN array_to_string(list_transform(
            list_filter(medians, lambda each: GREATEST(each.times, 1 / each.times) >= 1.5),
            lambda each: CASE
                WHEN each.times >= 1 THEN format('{:,.1f} times as many {}', each.times, each.what)
                ELSE format('{:,.1f} times fewer {}', 1 / each.times, each.what)
            END
        ), ', ')
    END AS differences,
    night, cluster
FROM per_log
