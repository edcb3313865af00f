"""IOR's summary as CSV (`-O summaryFormat=CSV`): results and little else, neither when they were measured nor where."""

from functools import partial
from typing import Any, Final

from iomine.sources.accounting.lines import LeftOut, head_of, numbered
from iomine.sources.clock import read_at
from iomine.sources.ior.document import PLACES
from iomine.sources.ior.model import OPS, FlawError, knows_columns, result_of
from iomine.sources.ior.numbers import printed
from iomine.sources.ior.rows import measured, readings
from iomine.sources.model import Input, Readings, Source
from iomine.sources.series.doubts import complete_lines
from iomine.units import KIB

_HEAD: Final = "access,bw("


def _knows(source: Input) -> bool:
    head = head_of(source.data).partition("\n")[0].rstrip("\r")
    return head.startswith(_HEAD) and _is_heading(head.split(","))


def _is_heading(words: list[str]) -> bool:
    return "numTasks" in words and knows_columns(words)


def _read(source: Input) -> Readings:
    data, cut = complete_lines(source.data)
    clock = read_at(source)
    rows: list[dict[str, Any]] = []
    seen: set[tuple[str, int]] = set()
    left_out = LeftOut("line")
    columns: list[str] = []
    test = 0
    for number, line in numbered(data):
        words = line.split(",")
        if line.startswith(_HEAD):
            columns = words if _is_heading(words) else []
            test += bool(seen)
            seen = set()
            continue
        try:
            row = _row(number, columns, words)
        except FlawError as flaw:
            left_out.add(flaw.line, flaw.why)
            continue
        if (row["op"], row["repetition"]) in seen:
            test += 1
            seen = set()
        seen.add((row["op"], row["repetition"]))
        rows.append(row | {"start_at": clock.at, "test": test})
    return readings(source, rows, left_out, cut, clock.doubt, has_moment=False)


def _row(number: int, columns: list[str], words: list[str]) -> dict[str, Any]:
    result = result_of(number, columns, words, partial(printed, places=PLACES))
    if result.op not in OPS or not result.ranks:
        raise FlawError(number, "it is neither a write nor a read of any process")
    block, transfer = (span.times(KIB).multiple(1) if span else None for span in (result.block, result.transfer))
    if result.requests_rate and result.data and result.transfer:
        requested = result.requests_rate.times(result.data).times(result.transfer)
        if not requested.meets(result.rate.times(result.elapsed).times(KIB)):
            raise FlawError(number, "its rates and times do not make the same bytes")
    return measured(result) | {"nprocs": result.ranks, "ior_block_bytes": block, "ior_transfer_bytes": transfer}


TABLE: Final = Source("ior_csv", _knows, _read)
