-- ---
-- about = "What became of findings since the night on which they were first told: gone, reduced, still there or worse in later runs of the lineage."
-- grain = ["cluster", "lineage_id", "code"]
-- reads = ["main.findings", "main.logs", "main.verdicts"]
-- ---
WITH told AS (
    SELECT
        cluster, lineage_id, code, MIN(night) AS told_night, MAX("user") AS "user", MAX(uid) AS uid, MAX(application) AS application
    FROM main.findings
    WHERE lineage_id IS NOT NULL
    GROUP BY ALL
),
-- What could not be assessed says nothing, so it is not counted.
run AS (
    SELECT
        cluster, lineage_id, code, told_night, night, night > told_night AS is_later, state = 'fired' AS is_fired,
        CASE WHEN is_fired THEN cost_core_seconds ELSE 0 END AS cost, pace,
        row_number() OVER (PARTITION BY cluster, lineage_id, code ORDER BY night, start_at, log_id) AS number
    FROM told
    JOIN (
        SELECT
            cluster, night, log_id, lineage_id, start_at,
            io_core_seconds / CASE WHEN io_signature = 'little' THEN 1 ELSE NULLIF(read_bytes::DOUBLE + write_bytes, 0) END AS pace
        FROM main.logs
    ) USING (cluster, lineage_id)
    JOIN main.verdicts USING (cluster, night, log_id, code)
    WHERE ruleset = 'iomine' AND state IN ('fired', 'clear')
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
        COUNT(*) FILTER (is_later AND number > last_fired) AS clear_since_count,
        MIN(night) FILTER (is_later AND number > last_fired) AS clear_night,
        COUNT(*) FILTER (number <= last_fired) AS until_count, COUNT(*) FILTER (is_fired) AS fired_count,
        AVG(cost) FILTER (number <= last_fired) AS until_cost,
        MEDIAN(pace) FILTER (number > last_fired) / NULLIF(MEDIAN(pace) FILTER (number <= last_fired), 0) AS pace_ratio,
        AVG(cost) FILTER (NOT is_later) AS before_cost, AVG(cost) FILTER (is_later) AS later_cost,
        MEDIAN(cost) FILTER (NOT is_later AND is_fired) AS before_usual_cost,
        MEDIAN(cost) FILTER (is_later AND is_fired) AS later_usual_cost
    FROM dated
    GROUP BY ALL
),
judged AS (
    SELECT
        *, before_fired_count / (before_count + 1) AS likely,
        CASE
            WHEN later_count < 3 THEN 'unknown'
            -- Fewer firings must not come by chance, in one case of a hundred, as often as it fired before.
            WHEN clear_since_count >= 3 AND (1 - fired_count / (until_count + 1)) ** clear_since_count <= 0.01
            THEN CASE WHEN pace_ratio >= 1.5 THEN 'worse' ELSE 'gone' END
            WHEN later_fired_count / later_count <= 0.5 * before_fired_count / before_count
                AND likely * later_count - later_fired_count >= 2.33 * sqrt(later_count * likely * (1 - likely))
            THEN 'reduced'
            WHEN before_fired_count >= 3 AND later_fired_count >= 3 AND later_usual_cost <= 0.5 * before_usual_cost THEN 'reduced'
            ELSE 'still there'
        END AS outcome
    FROM summed
)
SELECT
    lineage_id, "user", uid, application, code, outcome, told_night,
    CASE WHEN outcome IN ('gone', 'worse') THEN clear_night END AS clear_night,
    before_count, before_fired_count, later_count, later_fired_count, clear_since_count,
    before_cost AS before_core_seconds, later_cost AS later_core_seconds,
    CASE outcome
        WHEN 'gone' THEN until_cost * clear_since_count
        WHEN 'reduced' THEN GREATEST(0, before_cost - later_cost) * later_count
        WHEN 'unknown' THEN NULL
        ELSE 0
    END AS saved_core_seconds,
    cluster
FROM judged
JOIN told USING (cluster, lineage_id, code, told_night)
ORDER BY saved_core_seconds DESC NULLS LAST, lineage_id, code
