"""What pages ask the warehouse of traces, of many logs at once but for levels of detail, which few traces need.

Questions of many take the place of `{where}` for a condition on `cluster`, `night` and `log_id`, and of `{ended}` for their logs
with the seconds by which their requests have to have ended. Of one log's levels, $1 to $3 are its id, night and cluster, and $4
is when a request has to have ended.
"""
# ruff: noqa: S608 - put together from the texts in this file; whoever fills a condition in quotes what is in it

from typing import Final

_OF_LOG: Final = "log_id = $1 AND night = $2 AND cluster = $3"
_SOUND: Final = f"{_OF_LOG} AND start_seconds >= 0 AND end_seconds >= start_seconds AND end_seconds <= $4"
_TRACED: Final = """
    traced AS (
        SELECT *, start_seconds >= 0 AND end_seconds >= start_seconds AND end_seconds <= ended_seconds AS is_sound
        FROM segments
        JOIN (VALUES {ended}) AS ended(log_id, ended_seconds) USING (log_id)
        WHERE {where}
    )
"""

EXTENTS: Final = f"""
    WITH {_TRACED}
    SELECT
        log_id, count(*) AS request_count, count(*) FILTER (is_sound) AS sound_count, max(rank) AS highest_rank,
        max(end_seconds) FILTER (is_sound) AS last_seconds,
        quantile_cont(end_seconds - start_seconds, 0.95) FILTER (is_sound) AS slow_seconds
    FROM traced
    GROUP BY log_id
    HAVING sound_count > 0
    ORDER BY log_id
"""
REQUESTS: Final = f"""
    WITH {_TRACED}
    SELECT
        log_id, layer, op, rank, host, file_id, ost AS ost_id, offset_bytes, greatest(length_bytes, 0) AS length_bytes,
        start_seconds, end_seconds, 0 AS tolerance
    FROM traced
    WHERE is_sound
    ORDER BY log_id, layer, rank, start_seconds
"""
# Levels leave out layers, and files, for which they would save little: of these there are the requests.
_LEVEL: Final = f"""
    WITH level AS (
        SELECT
            layer, op, {{columns}}, start_seconds, end_seconds, request_count, moved_bytes, busy_seconds,
            {{tolerance}} AS tolerance
        FROM ({{source}})
    ),
    rest AS (
        SELECT *, greatest(length_bytes, 0) AS moved_bytes
        FROM (SELECT *, ost AS ost_id FROM segments)
        ANTI JOIN level USING ({{kept_by}})
        WHERE {_SOUND} AND {{column}} IS NOT NULL
    ),
    every AS (
        SELECT * FROM level
        UNION ALL BY NAME
        SELECT
            layer, op, {{rest_columns}}, start_seconds, end_seconds, 1 AS request_count, moved_bytes,
            end_seconds - start_seconds AS busy_seconds, 0 AS tolerance
        FROM rest
    )
    FROM every {{hosts}} ORDER BY layer, {{column}}, start_seconds
"""
_COARSEST: Final = f"""
    FROM core.{{table}} WHERE {_OF_LOG} AND detail_level >= {{level}}
    QUALIFY detail_level = min(detail_level) OVER (PARTITION BY layer)
"""
_HOST_OF_RANK: Final = f"SELECT rank, any_value(host) AS host FROM core.dxt_file WHERE {_OF_LOG} GROUP BY rank"
HOSTS: Final = "SELECT DISTINCT log_id, host FROM core.dxt_file WHERE {where} AND host IS NOT NULL ORDER BY host"
FILES: Final = """
    SELECT log_id, file_id, any_value(path) AS path
    FROM core.file_access
    LEFT JOIN core.file_name USING (cluster, night, log_id, file_id)
    WHERE {where}
    GROUP BY log_id, file_id
    ORDER BY sum(moved_bytes) DESC, file_id
"""
PHASES: Final = """
    SELECT
        log_id, layer, phase, start_seconds, end_seconds, read_bytes, write_bytes, request_count, rank_count, fastest_rank,
        slowest_rank, fastest_rank_seconds, slowest_rank_seconds, straggler_count
    FROM phases
    WHERE {where}
    ORDER BY layer, phase
"""
OSTS: Final = """
    SELECT log_id, ost_id, op, request_count, moved_bytes, reason
    FROM ost_io
    WHERE {where} AND layer = 'posix'
    ORDER BY ost_id NULLS LAST, op
"""
# Of each layer, as requests of MPI-IO wait for those of POSIX.
BUSY_RANKS: Final = f"""
    WITH {_TRACED},
    spent AS (SELECT log_id, layer, rank, sum(end_seconds - start_seconds) AS seconds FROM traced WHERE is_sound GROUP BY ALL),
    usual AS (SELECT log_id, layer, median(seconds) AS seconds FROM spent GROUP BY ALL)
    SELECT DISTINCT log_id, rank
    FROM spent JOIN usual USING (log_id, layer)
    WHERE spent.seconds > 2 * usual.seconds
    ORDER BY rank
"""


def level_sql(by: str, level: int) -> str:
    """The query for a level of detail: of each layer the coarsest that is not coarser, and requests where there is none.

    Args:
        by: what rows are told apart by beside time: `rank`, `ost`, or `offset`, of which there is one level.
        level: 0 is coarse.
    """
    if by == "offset":
        return _LEVEL.format(
            source=f"FROM core.offset_detail WHERE {_OF_LOG}",
            tolerance="tolerance_bytes",
            column="offset_bytes",
            columns="file_id, offset_bytes, end_offset_bytes - offset_bytes AS length_bytes",
            rest_columns="file_id, offset_bytes, moved_bytes AS length_bytes",
            kept_by="layer, file_id",
            hosts="",
        )
    column = {"rank": "rank", "ost": "ost_id"}[by]
    return _LEVEL.format(
        source=_COARSEST.format(table=f"{by}_detail", level=level),
        tolerance="tolerance_seconds",
        column=column,
        columns=column,
        rest_columns=column,
        kept_by="layer",
        hosts=f"LEFT JOIN ({_HOST_OF_RANK}) USING (rank)" if by == "rank" else "",
    )
