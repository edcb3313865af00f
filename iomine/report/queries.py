"""What pages ask the warehouse of levels of detail of a trace, which few traces need.

$1 to $3 are a log's id, night and cluster, and $4 is when a request has to have ended. Its columns depend on
the column that separates levels, so the query is put together here; other questions about traces are under `sql/questions/trace`.
"""
# ruff: noqa: S608 - put together from the texts in this file; callers quote the values of conditions

from typing import Final

_OF_LOG: Final = "log_id = $1 AND night = $2 AND cluster = $3"
_SOUND: Final = f"{_OF_LOG} AND start_seconds >= 0 AND end_seconds >= start_seconds AND end_seconds <= $4"
# Levels leave out layers, and files, for which they would save little: for these the query gives the requests.
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


def level_sql(by: str, level: int) -> str:
    """The query for a level of detail: of each layer the coarsest that is not coarser, and requests where there is none.

    Args:
        by: what separates rows beside time: `rank`, `ost`, or `offset`, of which there is one level.
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
