"""What the circle of a run asks a server for: requests counted by what they come from and go to, and single ranks of an arc.

A page has its own circles. Those of files and of mounts, and ranks that share an arc, are worked out of the trace when somebody
chooses them.
"""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, Final

import pyarrow as pa

from iomine.errors import UsageError
from iomine.report.blocks import block_text
from iomine.report.radial import METRICS, TIME_BINS, short
from iomine.report.trace import ended_seconds
from iomine.views.answers import Row
from iomine.views.questions import find_question
from iomine.web.question import UnknownNameError
from iomine.web.sessions import Session

MOST_CELLS: Final = 400_000
_MOST_FILES: Final = 64
_MOST_RANK: Final = 2**31 - 1
# Whose rows a circle needs.
_NEEDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("rank", "host", "carrier"), "by_rank"),
    **dict.fromkeys(("ost", "oss"), "by_ost"),
    **dict.fromkeys(("file", "mount"), "by_file"),
    "place": "by_ost",
}
_WHERE: Final = "SELECT cluster, night, run_seconds FROM core.log WHERE log_id = $1"
_KNOWN: Final = frozenset({"by", "bins", "begin", "width", "first_rank", "last_rank"})
# Quick: somebody waits.
_GZIP_LEVEL: Final = 1
GONE: Final = "The requests of this trace are not kept, so other circles than the page's own cannot be shown."


def moved_of(session: Session, log_id: str, parameters: Sequence[tuple[str, str]]) -> str:
    """Requests of a log counted by what circles need, as a block that `client/src/moved.ts` reads.

    Args:
        session: answers.
        log_id: whose.
        parameters: `by`, the circles; `bins` of time, the `begin` of the first and the `width` of each in seconds; and where
            ranks are to stand by themselves, `first_rank` and `last_rank`.

    Raises:
        UnknownNameError: there is no such log, or its trace is gone.
        UsageError: a parameter makes no sense, or there are more cells than one answer holds.
    """
    logs = session.ask(_WHERE, [log_id]).to_pylist()
    if not logs:
        raise UnknownNameError(f"The warehouse has no log {log_id[:100]!r}: the view logs has the ids of all.")
    (log,) = logs
    asked = dict(parameters)
    given = {"cluster": log["cluster"], "night": log["night"], "log_id": log_id, "ended_seconds": ended_seconds(log)}
    given |= {"most_files": _MOST_FILES, "most_cells": MOST_CELLS + 1} | _parsed(asked)
    names = _ask(session, "moved_files", given).to_pylist()
    ranks = _ask(session, "single_ranks", given).to_pylist() if given["is_each"] else []
    if not (names or ranks):
        raise UnknownNameError(GONE)
    cells = _ask(session, "moved", given)
    if cells.num_rows > MOST_CELLS:
        raise UsageError(f"These circles have more than {MOST_CELLS:,} edges by time and value: choose others, or two of them.")
    about = {"layer": names[0]["layer"] if names else "posix", "lack": "" if names else GONE, **_files(names)}
    about["ranks"] = [row | {"host": short(row["host"])} for row in ranks]
    return block_text(about, {name: cells[name].to_numpy() for name in cells.column_names}, _GZIP_LEVEL)


def _ask(session: Session, name: str, given: Mapping[str, Any]) -> pa.Table:
    asked = find_question(f"radial/{name}")
    return session.ask(asked.sql, asked.values(given))


def _parsed(asked: Mapping[str, str]) -> dict[str, Any]:
    """Parameters of the questions."""
    if unknown := asked.keys() - _KNOWN:
        raise UsageError(f"There is no parameter {min(unknown)[:100]!r}: write {', '.join(sorted(_KNOWN))}.")
    kinds = asked.get("by", "").split(",")
    if wrong := next((kind for kind in kinds if kind not in _NEEDS), None):
        raise UsageError(f"There is no circle of {wrong[:100]!r}: write {', '.join(_NEEDS)} as by=rank,file.")
    if "" in kinds:
        raise UsageError("No circles are named: write them as by=rank,file.")
    is_each = "first_rank" in asked or "last_rank" in asked
    needs = {_NEEDS[kind] for kind in kinds}
    return {
        **{name: name in needs for name in ("by_rank", "by_ost", "by_file")},
        "is_each": is_each,
        "first_rank": _number(asked, "first_rank", 0, 0, _MOST_RANK),
        "last_rank": _number(asked, "last_rank", _MOST_RANK, 0, _MOST_RANK),
        "bins": _number(asked, "bins", TIME_BINS, 1, TIME_BINS),
        "begin": _seconds(asked, "begin", 0.0),
        "width": max(_seconds(asked, "width", 1.0), 1e-9),
        "least": [metric.least for metric in METRICS],
        "most": [float(metric.most) for metric in METRICS],
        "value_bins": METRICS[0].bins,
    }


def _number(asked: Mapping[str, str], name: str, otherwise: int, least: int, most: int) -> int:
    text = asked.get(name, str(otherwise))
    # Python refuses to parse much longer numbers.
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most)) and least <= int(text) <= most):
        raise UsageError(f"{name} is {text[:100]!r}: write a whole number from {least} to {most}.")
    return int(text)


def _seconds(asked: Mapping[str, str], name: str, otherwise: float) -> float:
    text = asked.get(name, str(otherwise))
    try:
        seconds = float(text)
    except ValueError:
        seconds = float("nan")
    if not isfinite(seconds):
        raise UsageError(f"{name} is {text[:100]!r}: write seconds, such as 1.5.")
    return seconds


def _files(names: Sequence[Row]) -> dict[str, Any]:
    """Names of files, and of their mounts by number."""
    mounts: dict[str | None, int] = {}
    of_files = [mounts.setdefault(row["mount"], len(mounts)) for row in names]
    files = [short(row["path"]) or f"record {row['file_id']}" for row in names]
    if names and names[0]["file_count"] > len(names):
        files.append("all other files")
        of_files.append(-1)
    return {"files": files, "mounts": [short(mount) for mount in mounts], "mountOf": of_files}
