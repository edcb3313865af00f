-- ---
-- about = "What became of findings since a mail first listed them: gone, reduced, still there or worse in later runs of the lineage, or not told."
-- grain = ["cluster", "lineage_id", "code"]
-- reads = ["main.findings", "main.logs", "main.mails", "main.verdicts", "core.owner_doubt"]
-- ---
WITH found AS (
    SELECT
        cluster, lineage_id, code, MIN(night) AS found_night, MAX("user") AS "user", MAX(uid) AS uid, MAX(application) AS application
    FROM main.findings
    ANTI JOIN core.owner_doubt USING (cluster, night, log_id)
    WHERE lineage_id IS NOT NULL
    GROUP BY ALL
),
-- A mail is about an application, and so about those of its lineages in which the finding was there by then.
mailed AS (
    SELECT
        found.cluster, found.lineage_id, found.code, found."user", found.uid, found.application, MIN(mail.told_night) AS told_night
    FROM found
    LEFT JOIN (
        SELECT cluster, code, "user", application, last_night, told_night
        FROM main.mails
        WHERE mail_part <> 'better' AND told_night IS NOT NULL
    ) AS mail
        ON mail.cluster = found.cluster AND mail.code = found.code AND mail."user" = found."user"
        AND COALESCE(mail.application, '') = COALESCE(found.application, '') AND mail.last_night >= found.found_night
    GROUP BY ALL
),
-- Runs that could not be assessed are not counted; runs to which the trigger does not apply any more count as clear.
run AS (
    SELECT
        cluster, lineage_id, code, told_night, night, COALESCE(night > told_night, false) AS is_later, state = 'fired' AS is_fired,
        CASE WHEN is_fired THEN cost_core_seconds + COALESCE(idle_core_seconds, 0) ELSE 0 END AS cost,
        -- Not the sum over ranks: it rises if many ranks do in parallel what one rank did for all before.
        slowest_rank_io_seconds / amount AS slowest_rank_pace, run_seconds / amount AS run_pace,
        row_number() OVER (PARTITION BY cluster, lineage_id, code ORDER BY night, start_at, log_id) AS number
    FROM mailed
    JOIN (
        SELECT
            cluster, night, log_id, lineage_id, start_at, run_seconds, slowest_rank_io_seconds,
            CASE WHEN io_signature = 'little' THEN 1 ELSE NULLIF(read_bytes::DOUBLE + write_bytes, 0) END AS amount
        FROM main.logs
        WHERE is_owner_confirmed IS DISTINCT FROM false
    ) USING (cluster, lineage_id)
    JOIN main.verdicts USING (cluster, night, log_id, code)
    WHERE ruleset = 'iomine' AND state IN ('fired', 'clear', 'not applicable')
),
dated AS (
    SELECT *, MAX(number) FILTER (is_fired) OVER (PARTITION BY cluster, lineage_id, code) AS last_fired
    FROM run
),
summed AS (
    SELECT
        cluster, lineage_id, code, told_night,
        COUNT(*) FILTER (NOT is_later) AS before_count, COUNT(*) FILTER (NOT is_later AND is_fired) AS before_fired_count,
        COUNT(*) FILTER (is_later) AS later_count, COUNT(*) FILTER (is_later AND is_fired) AS later_fired_count,
        COUNT(*) FILTER (number > last_fired AND (is_later OR told_night IS NULL)) AS clear_since_count,
        MIN(night) FILTER (number > last_fired AND (is_later OR told_night IS NULL)) AS clear_night,
        COUNT(*) FILTER (number <= last_fired) AS until_count, COUNT(*) FILTER (is_fired) AS fired_count,
        AVG(cost) FILTER (number <= last_fired) AS until_cost,
        MEDIAN(slowest_rank_pace) FILTER (number > last_fired)
            / NULLIF(MEDIAN(slowest_rank_pace) FILTER (number <= last_fired), 0) AS slowest_rank_pace_ratio,
        MEDIAN(run_pace) FILTER (number > last_fired)
            / NULLIF(MEDIAN(run_pace) FILTER (number <= last_fired), 0) AS run_pace_ratio,
        AVG(cost) FILTER (NOT is_later) AS before_cost, AVG(cost) FILTER (is_later) AS later_cost,
        MEDIAN(cost) FILTER (NOT is_later AND is_fired) AS before_usual_cost,
        MEDIAN(cost) FILTER (is_later AND is_fired) AS later_usual_cost,
        -- Fewer firings must not come by chance, in one case of a hundred, as often as it fired before.
        clear_since_count >= 3 AND (1 - fired_count / (until_count + 1)) ** clear_since_count <= 0.01 AS is_over
    FROM dated
    GROUP BY ALL
),
judged AS (
    SELECT
        *, before_fired_count / (before_count + 1) AS likely,
        CASE
            WHEN told_night IS NULL THEN 'not told'
            WHEN later_count < 3 THEN 'unknown'
            -- A slower rank that delays no other rank does no harm: the run as a whole may still be faster.
            WHEN is_over AND COALESCE(slowest_rank_pace_ratio, run_pace_ratio) >= 1.5 AND COALESCE(run_pace_ratio > 0.9, true)
            THEN 'worse'
            WHEN is_over THEN 'gone'
            WHEN later_fired_count / later_count <= 0.5 * before_fired_count / before_count
                AND likely * later_count - later_fired_count >= 2.33 * sqrt(later_count * likely * (1 - likely))
            THEN 'reduced'
            WHEN before_fired_count >= 3 AND later_fired_count >= 3 AND later_usual_cost <= 0.5 * before_usual_cost THEN 'reduced'
            ELSE 'still there'
        END AS outcome
    FROM summed
)
SELECT
    lineage_id, "user", uid, application, code, outcome, told_night, is_over,
    CASE WHEN is_over AND outcome <> 'unknown' THEN clear_night END AS clear_night,
    before_count, before_fired_count, later_count, later_fired_count, clear_since_count,
    slowest_rank_pace_ratio, run_pace_ratio,
    before_cost AS before_core_seconds, later_cost AS later_core_seconds,
    CASE
        WHEN outcome IN ('unknown', 'not told') THEN NULL
        -- LEAST ignores NULL.
        WHEN outcome = 'gone' AND COALESCE(LEAST(slowest_rank_pace_ratio, run_pace_ratio) < 1, true)
        THEN until_cost * clear_since_count
        WHEN outcome = 'reduced' THEN GREATEST(0, before_cost - later_cost) * later_count
        ELSE 0
    END AS saved_core_seconds,
    cluster
FROM judged
JOIN (SELECT cluster, lineage_id, code, "user", uid, application FROM mailed) USING (cluster, lineage_id, code)
ORDER BY saved_core_seconds DESC NULLS LAST, lineage_id, code, cluster
