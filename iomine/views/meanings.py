"""What a text that people give may mean: a log, or a job.

Whatever enters the queries is a name that stands here; hence the exemption.
"""
# ruff: noqa: S608

from typing import Final

# $1 the text, $2 the cluster or NULL.
_HERE: Final = "($2::VARCHAR IS NULL OR cluster = $2::VARCHAR)"
_LOG: Final = f"SELECT 'log' AS kind, cluster, log_id AS id, night FROM logs WHERE {_HERE} AND "
# Of the beginning of a log's id; fewer may be a job's id, mistyped.
LEAST_DIGITS: Final = 4
# Surest first.
MEANINGS: Final = (
    f"{_LOG} log_id = lower($1::VARCHAR)",
    f"""
    SELECT DISTINCT 'job' AS kind, cluster, job_id AS id, NULL::DATE AS night
    FROM (
        SELECT cluster, job_id FROM logs WHERE job_id = $1::VARCHAR
        UNION ALL
        SELECT cluster, job_id FROM core.job WHERE job_id = $1::VARCHAR OR shown_job_id = $1::VARCHAR
    )
    WHERE {_HERE}
    """,
    f"{_LOG} starts_with(log_id, lower($1::VARCHAR)) AND length($1::VARCHAR) >= {LEAST_DIGITS} ORDER BY log_id",
    f"{_LOG} (path = $1::VARCHAR OR ends_with(path, '/' || $1::VARCHAR)) ORDER BY path, log_id",
)
NEAREST: Final = f"""
SELECT id
FROM (
    SELECT log_id AS id FROM logs WHERE {_HERE}
    UNION
    SELECT job_id FROM logs WHERE {_HERE}
    UNION
    SELECT job_id FROM core.job WHERE {_HERE}
)
WHERE id <> '' AND jaro_winkler_similarity(id, $1::VARCHAR) > 0.85
ORDER BY jaro_winkler_similarity(id, $1::VARCHAR) DESC, id
LIMIT 3
"""
# $1 what was taken for a lineage.
NEAREST_LINEAGE: Final = """
SELECT DISTINCT lineage_id, jaro_winkler_similarity(lineage_id, $1::VARCHAR) AS likeness
FROM logs
WHERE jaro_winkler_similarity(lineage_id, $1::VARCHAR) > 0.85
ORDER BY likeness DESC, lineage_id
LIMIT 1
"""
