-- ---
-- about = "Why a log's I/O was slow: system, neighbour, fabric or application, with numbers and the rule; without evidence, what was ruled out."
-- grain = ["log_id"]
-- reads = ["core.log", "core.log_weather_profile", "core.log_fabric_profile", "core.slowed_log", "main.findings"]
-- ---
-- Without evidence there is no verdict against anyone: the application is named on evidence of its own only.
WITH priced AS (
    SELECT
        cluster, night, log_id, SUM(charged_core_seconds) AS finding_core_seconds,
        arg_max(code, charged_core_seconds ORDER BY code) AS costliest_code
    FROM main.findings
    -- What the facility caused is no evidence against the application.
    WHERE is_facility_cause IS NOT TRUE
    GROUP BY ALL
),
known AS (
    SELECT
        log.*, profile.* EXCLUDE (cluster, night, log_id), costliest_code, fabric_verdict, fabric_rule, slowed_by, is_slow_run,
        is_excused,
        finding_core_seconds / NULLIF(log.io_core_seconds, 0) AS finding_ratio,
        CASE
            WHEN run_slowdown_ratio IS NULL
            THEN 'What its I/O usually takes is not known: fewer than three runs of its lineage are, of the 30 nights before.'
            ELSE format(
                'Its I/O took {:,.1f} times as long as that of {} runs {} in the 30 nights before', run_slowdown_ratio,
                CASE WHEN did_more_ratio IS NULL THEN alike_run_count ELSE lineage_run_count END,
                CASE WHEN did_more_ratio IS NULL THEN 'of its lineage that did the same' ELSE 'of its lineage' END
            )
        END AS beside_lineage
    FROM core.log AS log
    JOIN core.log_weather_profile AS profile USING (cluster, night, log_id)
    JOIN core.slowed_log USING (cluster, night, log_id)
    LEFT JOIN (SELECT cluster, night, log_id, fabric_verdict, fabric_rule FROM core.log_fabric_profile) AS fabric
        USING (cluster, night, log_id)
    LEFT JOIN priced USING (cluster, night, log_id)
),
judged AS (
    SELECT
        *,
        CASE
            WHEN slowed_by IS NOT NULL THEN slowed_by
            WHEN server_verdict = 'own' THEN server_verdict
            WHEN run_slowdown_ratio >= 1.5 AND did_more_ratio >= run_slowdown_ratio / 1.5 THEN 'otherwise'
            WHEN run_slowdown_ratio < 1.5 AND finding_ratio >= 0.5 THEN 'findings'
            WHEN server_verdict = 'unclear' THEN 'no servers'
            WHEN run_slowdown_ratio IS NULL THEN 'no lineage'
            WHEN run_slowdown_ratio < 1.5 THEN 'not slow'
            ELSE 'slow'
        END AS reason
    FROM known
)
SELECT
    log_id, job_id, "user", uid, app, start_at, end_at,
    CASE
        WHEN reason IN ('system', 'neighbour', 'fabric') THEN reason
        WHEN reason IN ('own', 'otherwise', 'findings') THEN 'application'
        WHEN reason IN ('no servers', 'no lineage') THEN 'unclear'
        ELSE 'unexplained'
    END AS weather_verdict,
    CASE reason
        WHEN 'fabric' THEN fabric_rule
        WHEN 'otherwise' THEN format('{}, and it differed from them: {}.', beside_lineage, differences)
        WHEN 'findings' THEN format(
            '{}, and its findings cost {:.0f}% of that, most of it {}.', beside_lineage, 100 * finding_ratio, costliest_code
        )
        WHEN 'no lineage' THEN format('{} {}', server_rule, beside_lineage)
        WHEN 'not slow' THEN format('{} {}, so there is nothing to explain.', server_rule, beside_lineage)
        WHEN 'slow' THEN format(
            '{}. Neither the servers nor the program explain it. {} By Darshan, {}. {}',
            beside_lineage, server_rule, CASE
                WHEN did_more_ratio IS NULL THEN 'it moved as much in as many requests, on as many ranks, files and OSTs'
                WHEN differences = '' THEN 'it did much the same as they did'
                ELSE format('its differences do not explain that: {}', differences)
            END, CASE fabric_verdict
                WHEN 'fair' THEN fabric_rule || ' Nodes are not checked.'
                ELSE 'Network and nodes are not checked.'
            END
        )
        ELSE server_rule
    END AS weather_rule,
    is_slow_run, is_excused, weather_slowdown_ratio, run_slowdown_ratio, did_more_ratio, finding_ratio,
    lineage_run_count, alike_run_count, lost_service_seconds, slowest_kind, own_ratio, neighbour, neighbour_job_id, neighbour_ratio, ost_contention_ratio,
    mdt_slowdown_ratio, mdt_own_ratio, load_percentile, own_bytes_ratio, fullest_ratio, fabric_verdict, night, cluster
FROM judged
