"""Two runs beside each other on the terminal, in lines of at most 80 signs, and as a table for programs."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa

from iomine.cli.terminal.grids import lay_out
from iomine.cli.terminal.text import width
from iomine.report.pair import Change, Pair, core_seconds
from iomine.units import counted, visible
from iomine.views.answers import Row

_WIDEST: Final = 80
_GAP: Final = 2
_HEADS: Final = ("finding", "change", "first", "second", "about")
_SCHEMA: Final = pa.schema(
    [
        *((name, pa.string()) for name in ("kind", "name", "title", "change")),
        *((name, pa.float64()) for name in ("first", "second", "difference")),
    ]
)


def pair_page(pair: Pair, run_count: int = 0) -> Iterator[str]:
    """What explains the difference, numbers, and findings, line by line.

    Args:
        pair: the runs.
        run_count: of how many runs of a lineage the first is the usual one, 0 where it was chosen otherwise.
    """
    widest = min(width(), _WIDEST)
    for said in pair.explained():
        yield from textwrap.wrap(visible(said), widest, break_on_hyphens=False)
    if run_count:
        yield f"The first is the usual one of the {counted(run_count, 'run')} before."
    yield ""
    heads = ("", pair.first.log["log_id"], pair.second.log["log_id"], "change")
    rows = [(f"  {row.words}" if row.is_part else row.words, *row.shown) for row in pair.measures()]
    yield from lay_out(heads, rows, [False, True, True, True])
    if changes := pair.changes():
        yield ""
        yield from lay_out(_HEADS, _of_findings(changes, widest), [False, False, True, True, False])


def as_table(pair: Pair) -> pa.Table:
    """The same for programs: a row for the explanation, one for each number, and one for each finding, with what it cost."""
    rows: list[Row] = [{"kind": "explanation", "name": "explanation", "title": " ".join(pair.explained())}]
    for row in pair.measures():
        rows.append({"kind": "number", "name": row.name, "title": row.words})
        rows[-1] |= {"first": row.first, "second": row.second, "difference": row.difference}
    for change in pair.changes():
        rows.append({"kind": "finding", "name": change.code, "title": change.title, "change": change.change})
        rows[-1] |= {"first": _cost(change.first), "second": _cost(change.second)}
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


def _cost(finding: Row | None) -> float | None:
    return finding["cost_core_seconds"] if finding else None


def _of_findings(changes: Sequence[Change], widest: int) -> list[tuple[str, ...]]:
    """Rows of findings, whose titles are cut where the line ends; `iomine explain` has them whole."""
    rows = [(each.code, each.change, _shown(each.first), _shown(each.second)) for each in changes]
    columns = zip(*(_HEADS[:-1], *rows), strict=True)
    left = widest - sum(max(map(len, column)) + _GAP for column in columns)
    return [(*row, _cut(each.title, left)) for row, each in zip(rows, changes, strict=True)]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: max(0, most - 1)]}…"


def _shown(finding: Row | None) -> str:
    if finding is None:
        return "-"
    cost = finding["cost_core_seconds"]
    return "?" if cost is None else core_seconds(cost)
