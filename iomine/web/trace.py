"""Requests of a log's trace in a window of time and ranks, for the explorer."""

from collections.abc import Mapping, Sequence
from typing import Final

import pyarrow as pa

from iomine.errors import UsageError
from iomine.web.question import Filter, Question, UnknownNameError, parse
from iomine.web.sessions import Session

MOST_REQUESTS: Final = 1_000_000
_WHERE: Final = "SELECT cluster, night FROM core.log WHERE log_id = $1"
_COLUMNS: Final = tuple("layer op rank host file_id ost offset_bytes length_bytes start_seconds end_seconds".split())
# Requests that overlap the time from `start` to `end`.
_ASKED: Final[Mapping[str, str]] = {
    "layer": "layer.eq",
    "start": "end_seconds.ge",
    "end": "start_seconds.le",
    "first_rank": "rank.ge",
    "last_rank": "rank.le",
}


def requests_of(session: Session, log_id: str, parameters: Sequence[tuple[str, str]]) -> pa.Table:
    """Requests in a window, in the order of their start.

    Args:
        session: answers.
        log_id: whose.
        parameters: any of `layer`, `start` and `end` in seconds since the start of the run, `first_rank` and `last_rank`.

    Raises:
        UnknownNameError: there is no such log.
        UsageError: a parameter makes no sense, or there are more requests than one answer holds.
    """
    places = session.ask(_WHERE, [log_id]).to_pylist()
    if not places:
        raise UnknownNameError(f"The warehouse has no log {log_id[:100]!r}: the view logs has the ids of all.")
    if unknown := {name for name, _ in parameters} - _ASKED.keys():
        raise UsageError(f"There is no parameter {min(unknown)[:100]!r}: write {', '.join(_ASKED)}.")
    asked = parse("segments", [(_ASKED[name], value) for name, value in parameters], session.types("segments"))
    # Cluster and night spare DuckDB the files of other nights.
    of_log = (Filter("log_id", "eq", log_id), *(Filter(name, "eq", value) for name, value in places[0].items()))
    question = Question("segments", (*of_log, *asked.filters), _COLUMNS, "start_seconds")
    count = session.count(question)
    if count > MOST_REQUESTS:
        raise UsageError(
            f"That span of time holds {count:,} requests; the limit is {MOST_REQUESTS:,}: ask for less time, or fewer ranks."
        )
    return session.answer(question.rows(MOST_REQUESTS))
