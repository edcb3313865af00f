-- The costliest finding of the simulated machine, in full, as lines of a paragraph.
WITH costliest AS (
    FROM findings
    WHERE cluster = 'simulated'
    ORDER BY cost_core_seconds DESC
    LIMIT 1
)

SELECT
    unnest(
        [format('{}: {} of {}, job {}', code, COALESCE(app, 'unknown'), COALESCE("user", 'unknown'), job_id), '']
        || regexp_extract_all(finding, '.{1,110}(?: |$)|\S+ ?')
        || ['']
        || regexp_extract_all(advice, '.{1,110}(?: |$)|\S+ ?')
    ) AS costliest
FROM costliest
