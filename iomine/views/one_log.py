"""All that the views say of one log, or of one job: what a page about it shows, part by part.

Whatever enters the queries is a name that stands here; hence the exemption.
"""
# ruff: noqa: S608

from collections.abc import Mapping
from typing import Final

# $1 log id, $2 night, $3 cluster. Without the night, DuckDB would open the files of all.
_OF_LOG: Final = "log_id = $1::VARCHAR AND night = $2::DATE AND cluster = $3::VARCHAR"
_OF_JOB: Final = "job_id = $1::VARCHAR AND cluster = $2::VARCHAR"
_SUMS: Final = """
    TRY_CAST(sum(read_bytes) AS BIGINT) AS read_bytes, TRY_CAST(sum(write_bytes) AS BIGINT) AS write_bytes,
    sum(read_seconds) AS read_seconds, sum(write_seconds) AS write_seconds, sum(meta_seconds) AS meta_seconds
"""


def _layer_sql(layer: str, table: str, reads: str, writes: str) -> str:
    return f"""
SELECT
    '{layer}' AS layer, count(DISTINCT file_id) AS file_count,
    TRY_CAST(sum({reads}) AS BIGINT) AS read_count, TRY_CAST(sum({writes}) AS BIGINT) AS write_count, {_SUMS}
FROM core.{table}
WHERE {_OF_LOG}
HAVING count(*) > 0
"""


# Of each part of a log's page its query.
LOG_PARTS: Final[Mapping[str, str]] = {
    "log": f"""
        SELECT log.*, job.* EXCLUDE (job_id), host_count
        FROM (SELECT * FROM logs WHERE {_OF_LOG}) AS log
        LEFT JOIN (
            SELECT job_id, job_name, account, partition, qos, job_state, node_count
            FROM core.job
            -- A job ends with its last log or later, and no machine lets one run for longer.
            WHERE cluster = $3::VARCHAR AND night BETWEEN $2::DATE - 1 AND $2::DATE + 31
            QUALIFY row_number() OVER (PARTITION BY job_id ORDER BY end_at IS NULL, night) = 1
        ) AS job USING (job_id)
        CROSS JOIN (SELECT nullif(count(DISTINCT host), 0) AS host_count FROM core.rank_io WHERE {_OF_LOG})
        """,
    "weather": f"SELECT * EXCLUDE (log_id, job_id, night, cluster) FROM job_weather WHERE {_OF_LOG}",
    "findings": f"""
        SELECT code, level, title, finding, advice, evidence, cost_core_seconds, value, bar
        FROM (SELECT * FROM findings WHERE {_OF_LOG}) AS finding
        LEFT JOIN (SELECT code, title FROM triggers) AS trigger USING (code)
        ORDER BY cost_core_seconds DESC NULLS LAST, code
        """,
    "unknown": f"""
        SELECT needs, list(code ORDER BY code) AS codes
        FROM (SELECT ruleset, code FROM verdicts WHERE {_OF_LOG} AND ruleset = 'iomine' AND state = 'unknown') AS verdict
        LEFT JOIN triggers USING (ruleset, code)
        GROUP BY needs
        ORDER BY count(*) DESC, needs
        """,
    "modules": f"""
        SELECT module, state, is_partial, reason
        FROM core.module
        WHERE {_OF_LOG} AND (state <> 'read' OR is_partial)
        ORDER BY module
        """,
    "layers": "UNION ALL".join(
        (
            _layer_sql(
                "mpiio",
                "mpiio_file",
                "indep_read_count::HUGEINT + coll_read_count + split_read_count + nb_read_count",
                "indep_write_count::HUGEINT + coll_write_count + split_write_count + nb_write_count",
            ),
            _layer_sql("posix", "posix_file", "read_count", "write_count"),
            _layer_sql("stdio", "stdio_file", "read_count", "write_count"),
            _layer_sql("dfs", "dfs_file", "read_count::HUGEINT + readx_count", "write_count::HUGEINT + writex_count"),
        )
    ),
    "phases": f"""
        SELECT
            phase, start_seconds, end_seconds, read_bytes, write_bytes, rank_count, slowest_rank, straggler_count, evidence,
            count(*) OVER () AS io_phase_count
        FROM phases
        WHERE {_OF_LOG} AND layer = 'all'
        QUALIFY row_number() OVER (ORDER BY read_bytes::DOUBLE + write_bytes DESC, phase) <= 10
        ORDER BY phase
        """,
    "files": f"""
        SELECT path, mount, fs_type, rank_count, read_bytes, write_bytes, meta_seconds, count(*) OVER () AS file_count
        FROM files
        WHERE {_OF_LOG}
        ORDER BY read_bytes::DOUBLE + write_bytes DESC NULLS LAST, meta_seconds DESC, path
        LIMIT 10
        """,
    "osts": f"""
        SELECT
            ost_id,
            -- A direction without a row moved nothing; one whose bytes are not known stays so.
            if(count(*) FILTER (op = 'read') = 0, 0, TRY_CAST(sum(moved_bytes) FILTER (op = 'read') AS BIGINT)) AS read_bytes,
            if(count(*) FILTER (op = 'write') = 0, 0, TRY_CAST(sum(moved_bytes) FILTER (op = 'write') AS BIGINT)) AS write_bytes,
            sum(request_seconds) AS request_seconds, max(evidence) AS evidence, any_value(reason) AS reason,
            count(ost_id) OVER () AS ost_count
        FROM ost_io
        WHERE {_OF_LOG} AND layer = 'posix'
        GROUP BY ost_id, reason
        ORDER BY sum(moved_bytes) DESC NULLS LAST, ost_id
        LIMIT 10
        """,
    "history": f"""
        WITH this AS (SELECT * FROM logs WHERE {_OF_LOG}),
        told AS (
            SELECT log_id, count(*) AS finding_count
            FROM findings
            WHERE cluster = $3::VARCHAR AND night BETWEEN $2::DATE - 90 AND $2::DATE
            GROUP BY log_id
        )
        SELECT
            log.log_id, log.start_at, log.run_seconds, log.io_ratio, log.read_bytes, log.write_bytes,
            coalesce(finding_count, 0) AS finding_count
        FROM logs AS log
        JOIN this ON log.uid IS NOT DISTINCT FROM this.uid AND log."user" IS NOT DISTINCT FROM this."user"
            AND log.app IS NOT DISTINCT FROM this.app AND log.nprocs = this.nprocs AND log.start_at <= this.start_at
        LEFT JOIN told ON told.log_id = log.log_id
        WHERE log.cluster = $3::VARCHAR AND log.night BETWEEN $2::DATE - 90 AND $2::DATE
        ORDER BY log.start_at DESC, log.log_id
        LIMIT 10
        """,
}

# $1 job id, $2 cluster.
JOB_PARTS: Final[Mapping[str, str]] = {
    "job": f"SELECT * FROM jobs WHERE {_OF_JOB} ORDER BY night",
    "logs": f"""
        SELECT
            job_id, log_id, app, nprocs, start_at, run_seconds, io_ratio, read_bytes, write_bytes,
            coalesce(finding_count, 0) AS finding_count
        FROM (SELECT * FROM logs WHERE {_OF_JOB}) AS log
        LEFT JOIN (
            SELECT cluster, night, log_id, count(*) AS finding_count
            FROM findings
            WHERE {_OF_JOB}
            GROUP BY ALL
        ) AS told USING (cluster, night, log_id)
        ORDER BY start_at, log_id
        """,
}

# What a text may mean, surest first; $1 the text, $2 the cluster or NULL.
_HERE: Final = "($2::VARCHAR IS NULL OR cluster = $2::VARCHAR)"
_LOG: Final = f"SELECT 'log' AS kind, cluster, log_id AS id, night FROM logs WHERE {_HERE} AND "
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
    f"{_LOG} starts_with(log_id, lower($1::VARCHAR)) AND length($1::VARCHAR) >= 4 ORDER BY log_id",
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
