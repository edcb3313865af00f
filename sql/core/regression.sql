-- ---
-- about = "What `regressions` shows, worked out from all runs of all lineages."
-- grain = ["cluster", "lineage_id", "log_id"]
-- reads = ["main.logs", "main.job_weather"]
-- ---
-- Whether there is a step is tested by ranks (Pettitt, Applied Statistics 28, 1979), whatever the distribution. That test's place leans
-- towards the middle, so the step lies where the runs before are nearer to the median before, and those since to the median since.
-- Its size is the ratio of medians.
WITH run AS (
    SELECT
        cluster, night, log_id, lineage_id, start_at, io_core_seconds AS seconds, slowest_rank_io_seconds AS slowest_seconds,
        -- More bytes take longer, and that is no regression.
        CASE WHEN io_signature = 'little' THEN 1 ELSE NULLIF(read_bytes::DOUBLE + write_bytes, 0) END AS work,
        seconds / work AS pace, slowest_seconds / work AS slowest_pace
    FROM main.logs
    WHERE lineage_id IS NOT NULL AND pace IS NOT NULL AND is_owner_confirmed IS DISTINCT FROM false
),
-- The numbers must be the same wherever they are read.
lineage AS MATERIALIZED (
        -- With fewer runs, neither three before and three since a step, nor five on one side, differ from chance. Sorting a
    -- million runs by one number takes less time than by two names.
    SELECT cluster, lineage_id, COUNT(*) AS run_count, row_number() OVER () AS lineage_number
    FROM run
    GROUP BY cluster, lineage_id
    HAVING run_count >= COALESCE(getvariable('regression_run_count'), 8)
),
ranked AS (
    SELECT
        run.* EXCLUDE (cluster, lineage_id, work), lineage_number, run_count,
        (rank() OVER of_pace + run_count * cume_dist() OVER of_pace) / 2 AS pace_rank
    FROM run
    JOIN lineage USING (cluster, lineage_id)
    WINDOW of_pace AS (PARTITION BY lineage_number ORDER BY pace)
),
parted AS MATERIALIZED (
    SELECT
        *, row_number() OVER of_time AS number, abs(2 * SUM(pace_rank) OVER of_time - number * (run_count + 1)) AS parting
    FROM ranked
    WINDOW of_time AS (PARTITION BY lineage_number ORDER BY night, start_at, log_id ROWS UNBOUNDED PRECEDING)
),
place AS (
    SELECT lineage_number, arg_max(number, parting ORDER BY number) AS last_before
    FROM parted
    WHERE number BETWEEN COALESCE(getvariable('regression_side_run_count'), 3) AND run_count - COALESCE(getvariable('regression_side_run_count'), 3)
    GROUP BY lineage_number
    -- One lineage in ten would show a step by chance; most of these steps are too small for the condition below.
    HAVING 2 * exp(-6 * MAX(parting) ** 2 / (MAX(run_count) ** 3 + MAX(run_count) ** 2)) <= COALESCE(getvariable('regression_chance_ratio'), 0.1)
),
middle AS (
    SELECT
        lineage_number,
        MEDIAN(pace) FILTER (number <= last_before) AS pace_before, MEDIAN(pace) FILTER (number > last_before) AS pace_since
    FROM parted
    JOIN place USING (lineage_number)
    GROUP BY lineage_number
),
distance AS (
    SELECT
        lineage_number, number, run_count,
        SUM(abs(pace - pace_before) - abs(pace - pace_since)) OVER (PARTITION BY lineage_number ORDER BY number) AS misplaced
    FROM parted
    JOIN middle USING (lineage_number)
),
split AS (
    SELECT lineage_number, arg_min(number, misplaced ORDER BY number) AS last_before
    FROM distance
    WHERE number BETWEEN COALESCE(getvariable('regression_side_run_count'), 3) AND run_count - COALESCE(getvariable('regression_side_run_count'), 3)
    GROUP BY lineage_number
),
sided AS (
    SELECT parted.*, COALESCE(number > last_before, false) AS is_after, last_before IS NOT NULL AS is_split
    FROM parted
    LEFT JOIN split USING (lineage_number)
),
side AS (
    SELECT
        lineage_number, is_after, COUNT(*) AS side_count,
        -- What is usual reaches to three standard deviations, of which a normal distribution passes one run in 700; 1.4826 makes the
        -- median absolute deviation one of these (Rousseeuw and Croux 1993). Where runs hardly differ, half as long again is usual.
        COALESCE(getvariable('regression_deviations'), 3.0) * 1.4826 AS deviations, COALESCE(getvariable('regression_times'), 1.5) AS times,
        MEDIAN(pace) AS usual_pace, GREATEST(times * usual_pace, usual_pace + deviations * MAD(pace)) AS most_pace,
        MEDIAN(seconds) AS usual_seconds, GREATEST(times * usual_seconds, usual_seconds + deviations * MAD(seconds)) AS most_seconds,
        MEDIAN(slowest_pace) FILTER (is_split) AS usual_slowest_pace,
        GREATEST(times * usual_slowest_pace, usual_slowest_pace + deviations * MAD(slowest_pace) FILTER (is_split)) AS most_slowest_pace,
        MEDIAN(slowest_seconds) FILTER (is_split) AS usual_slowest_seconds,
        GREATEST(times * usual_slowest_seconds, usual_slowest_seconds + deviations * MAD(slowest_seconds) FILTER (is_split))
            AS most_slowest_seconds
    FROM sided
    GROUP BY lineage_number, is_after
),
step AS (
    SELECT lineage_number, earlier.usual_pace AS earlier_pace, earlier.usual_seconds AS earlier_seconds
    FROM (SELECT * FROM side WHERE NOT is_after) AS earlier
    JOIN (SELECT * FROM side WHERE is_after) AS later USING (lineage_number)
    WHERE
        later.usual_pace > earlier.most_pace AND later.usual_seconds > earlier.most_seconds
        -- Where rank 0 no longer writes for all, the sum over ranks rises and no rank takes longer.
        AND NOT COALESCE(later.usual_slowest_seconds <= earlier.most_slowest_seconds, false)
        AND NOT COALESCE(later.usual_slowest_pace <= earlier.most_slowest_pace, false)
),
slow AS (
    SELECT
        cluster, lineage_id, night, log_id, start_at, number, seconds, is_after AND step.lineage_number IS NOT NULL AS is_of_step,
        CASE WHEN is_of_step THEN earlier_pace ELSE usual_pace END AS held_pace,
        CASE WHEN is_of_step THEN earlier_seconds ELSE usual_seconds END AS held_seconds,
        LEAST(pace / NULLIF(held_pace, 0), seconds / NULLIF(held_seconds, 0)) AS slowdown_ratio,
        seconds * (1 - 1 / NULLIF(slowdown_ratio, 0)) AS lost_seconds
    FROM sided
    JOIN side USING (lineage_number, is_after)
    JOIN lineage USING (lineage_number)
    LEFT JOIN step USING (lineage_number)
    -- A median of fewer than five says little of a single run.
    WHERE is_of_step OR (side_count >= COALESCE(getvariable('regression_usual_run_count'), 5) AND pace > most_pace AND seconds > most_seconds)
),
named AS (
    SELECT
        cluster, lineage_id, CASE WHEN is_of_step THEN 'step' ELSE 'run' END AS regression_kind,
        arg_min(log_id, number) AS log_id, arg_min(night, number) AS night, COUNT(*) AS log_count,
        MEDIAN(held_seconds) AS usual_io_core_seconds, MEDIAN(slowdown_ratio) AS io_slowdown_ratio,
        MEDIAN(lost_seconds) AS lost_core_seconds, SUM(lost_seconds) AS all_lost_core_seconds,
        COUNT(*) FILTER (weather_verdict = 'neighbour') AS neighbour_count,
        COUNT(*) FILTER (weather_verdict = 'system') AS system_count,
        COUNT(*) FILTER (weather_verdict = 'fabric') AS fabric_count,
        CASE
            WHEN 2 * (neighbour_count + system_count + fabric_count) < COUNT(*)
            -- The first run is compared with those before it; later ones also with it and runs like it.
            THEN COALESCE(arg_min(weather_verdict, number) FILTER (weather_verdict NOT IN ('neighbour', 'system', 'fabric')), 'unclear')
            WHEN fabric_count > GREATEST(neighbour_count, system_count) THEN 'fabric'
            WHEN neighbour_count >= system_count THEN 'neighbour'
            ELSE 'system'
        END AS weather_verdict
    FROM slow
    LEFT JOIN main.job_weather USING (cluster, night, log_id)
    GROUP BY cluster, lineage_id, is_of_step, CASE WHEN is_of_step THEN 0 ELSE number END
)
SELECT
    lineage_id, regression_kind,
    -- Unexplained is neither the program's nor the system's, so whether the program is worse is not known.
    CASE WHEN weather_verdict <> 'unexplained' THEN weather_verdict IN ('application', 'unclear') END AS is_regression, weather_verdict,
    log."user", log.uid, log.application, named.log_id, log.start_at AS since_at, named.log_count, io_slowdown_ratio,
    usual_io_core_seconds, lost_core_seconds, all_lost_core_seconds, named.night, named.cluster
FROM named
JOIN main.logs AS log USING (cluster, night, log_id, lineage_id)
