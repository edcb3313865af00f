"""Rows of `ior_run`: what an output says, once it agrees with itself.

IOR says most things twice: sizes in its settings, its table and its summary, rates beside bytes and times. An output that was cut
or damaged says two things of one, within what was lost in rounding, and is refused.
"""

import os
import re
from collections.abc import Iterator
from decimal import Decimal
from math import prod
from typing import Any, Final

import pyarrow as pa

from iomine.errors import UnreadableError
from iomine.schema.registry import arrow_schema, field
from iomine.sources.accounting.lines import LeftOut
from iomine.sources.ior.command import Asked, asked
from iomine.sources.ior.model import OPS, FlawError, Launch, Result, Summary, Test
from iomine.sources.ior.numbers import MOST, Size, Span
from iomine.sources.model import Input, Readings
from iomine.sources.series.doubts import joined
from iomine.units import KIB, MIB

TABLE: Final = "ior_run"
_SYSTEM: Final = re.compile(r"(?:^|/)system=([^/]{1,255})(?=/)")
# What a test has to say of itself, by the name of its attribute.
_NEEDED: Final = {
    "api": "api",
    "is_shared": "access",
    "ranks": "tasks",
    "repetitions": "repetitions",
    "block": "blocksize",
    "transfer": "xfersize",
}


def table_of(source: Input, rows: list[dict[str, Any]]) -> dict[str, pa.Table]:
    """Rows as a table, with their nights."""
    named = _SYSTEM.findall(source.path)
    common = {"system": named[-1] if named else source.cluster or None, "output_path": source.path}
    common = {name: value and _shown(value) for name, value in common.items()}
    table = pa.Table.from_pylist([row | common for row in rows], schema=arrow_schema(TABLE))
    return {TABLE: table.append_column(pa.field("night", field("night").type), table["start_at"].cast(field("night").type))}


def readings(source: Input, rows: list[dict[str, Any]], left_out: LeftOut, *doubts: str, has_moment: bool = True) -> Readings:
    """What an input holds.

    Args:
        source: the input.
        rows: those that were read.
        left_out: lines that could not be read.
        doubts: what else is not to be trusted.
        has_moment: whether the content says when it was measured.

    Raises:
        UnreadableError: there are no rows.
    """
    if not rows:
        raise UnreadableError(f"No run of IOR can be read here: {left_out.text()}")
    return Readings(table_of(source, rows), joined(left_out.text().removesuffix("."), *doubts), has_moment)


def _shown(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def rows_of(launch: Launch, first_test: int) -> list[dict[str, Any]]:
    """What a launch of IOR measured, one row for each repetition of each operation of each test.

    Args:
        launch: the launch.
        first_test: number of its first test in the output.

    Raises:
        FlawError: its output is cut, or contradicts itself.
    """
    options = asked(launch.command)
    rows = [row for number, test in enumerate(launch.tests, first_test) for row in _rows_of_test(launch, test, options, number)]
    if not rows:
        raise FlawError(launch.last_line, "it ends without a result")
    return rows


def _rows_of_test(launch: Launch, test: Test, options: Asked, number: int) -> Iterator[dict[str, Any]]:
    at = test.start or launch.began
    if at is None:
        raise FlawError(test.line, "the test does not say when it began")
    for attribute, name in _NEEDED.items():
        value = getattr(test, attribute)
        if value is None or (value == 0 and value is not False):
            raise FlawError(test.line, f"the test has no {name}")
    _agree(test)
    _fill(test, options)
    # What is wrong in a row is found in the row, not in the summary.
    moved = [_moved(test, result) for result in test.results]
    for op in OPS:
        _check(launch, test, op, options)
    settings = {
        "start_at": at,
        "host": launch.host,
        "ior_version": launch.version,
        "test": number,
        "api": test.api,
        "nprocs": test.ranks,
        "node_count": test.nodes,
        "ior_block_bytes": test.block.exact if test.block else None,
        "ior_transfer_bytes": test.transfer.exact if test.transfer else None,
        "ior_segment_count": test.segments,
        "is_shared": test.is_shared,
        "is_collective": test.is_collective,
        "hints": test.hints,
        "test_path": test.path,
    }
    for result, moved_bytes in zip(test.results, moved, strict=True):
        yield settings | {"moved_bytes": moved_bytes} | measured(result)


def measured(result: Result) -> dict[str, Any]:
    """What a row of the table of results says in the table's columns."""
    for part in (result.open, result.data, result.close):
        if part and part.low > result.elapsed.high:
            raise FlawError(result.line, f"a part took {part.value} s of {result.elapsed.value} s")
    return {
        "op": result.op,
        "repetition": result.repetition,
        "bytes_per_second": float(result.rate.value * MIB),
        "open_seconds": _seconds(result.open),
        "data_seconds": _seconds(result.data),
        "close_seconds": _seconds(result.close),
        "elapsed_seconds": _seconds(result.elapsed),
    }


def _seconds(span: Span | None) -> float | None:
    return float(span.value) if span else None


def _agree(test: Test) -> None:
    """Refuses settings that are not those of the summary, and takes those from there that are exact or are nowhere else."""
    for summary in test.summaries.values():
        for name, value in summary.settings.items():
            mine = getattr(test, name)
            is_same = mine.span.meets(value.span) if isinstance(mine, Size) and isinstance(value, Size) else mine in (None, value)
            if not is_same:
                raise FlawError(summary.line, f"it differs from the settings in {_NEEDED.get(name, name)}")
            setattr(test, name, value)


def _fill(test: Test, options: Asked) -> None:
    """Takes from the command line what neither settings nor summary say, or say rounded."""
    for name, sought in (("block", options.block), ("transfer", options.transfer)):
        mine = getattr(test, name)
        if mine.exact is None and sought is not None and mine.span.meets(sought):
            setattr(test, name, mine._replace(exact=sought))
    if test.segments is None:
        test.segments = options.segments
    if test.is_collective is None:
        test.is_collective = False if test.api == "POSIX" else options.is_collective
    if test.nodes is None and test.ranks and test.ranks_per_node and test.ranks % test.ranks_per_node == 0:
        test.nodes = test.ranks // test.ranks_per_node


def _check(launch: Launch, test: Test, op: str, options: Asked) -> None:
    """Refuses results of an operation that are not all there, or are not what was summed up.

    Raises:
        FlawError: they are not.
    """
    results = [each for each in test.results if each.op == op]
    summary = test.summaries.get(op)
    if not launch.is_ended and (launch.is_summed or options.ops is None or (op in options.ops and not results)):
        raise FlawError(launch.last_line, "it is cut: IOR does not say that it has finished")
    if bool(results) != bool(summary) and (launch.is_summed or summary):
        raise FlawError(summary.line if summary else launch.last_line, f"results and summary differ in whether there are {op}s")
    if not results:
        return
    if [each.repetition for each in results] != [*range(test.repetitions or 0)]:
        raise FlawError(results[-1].line, f"{len(results)} {op}s are here for {test.repetitions} repetitions")
    for name, sizes in (("block", test.block), ("transfer", test.transfer)):
        for each in results:
            span = getattr(each, name)
            if sizes and span and not span.times(KIB).meets(sizes.span if sizes.exact is None else sizes.exact):
                raise FlawError(each.line, f"it differs from the settings in {_NEEDED[name]}")
    if op in test.most and not max(each.rate for each in results).meets(test.most[op][1]):
        raise FlawError(test.most[op][0], f"the fastest {op} is not that of the results")
    if summary:
        _check_summary(summary, results)


def _check_summary(summary: Summary, results: list[Result]) -> None:
    rates = [each.rate for each in results]
    pairs = {
        "fastest rate": (summary.most, max(rates)),
        "slowest rate": (summary.least, min(rates)),
        "mean rate": (summary.mean, _mean(rates)),
        "mean time": (summary.seconds, _mean([each.elapsed for each in results])),
        "bytes": (summary.moved, results[0].rate.times(results[0].elapsed).times(MIB)),
    }
    for name, (summed, found) in pairs.items():
        if not summed.meets(found):
            raise FlawError(summary.line, f"its {name} of {summed.value:f} is not that of the results")


def _mean(spans: list[Span]) -> Span:
    count = Decimal(len(spans))
    value, low, high = (sum(column, Decimal(0)) / count for column in zip(*spans, strict=True))
    return Span(value, low, high)


def _moved(test: Test, result: Result) -> int | None:
    """The bytes that a repetition moved, None where stonewalling left fewer than were asked for and nothing says how many.

    Raises:
        FlawError: what IOR says of them is not what its rate and time make of them.
    """
    spans = [result.rate.times(result.elapsed).times(MIB)]
    if result.requests_rate and result.data and test.transfer and test.transfer.exact:
        spans.append(result.requests_rate.times(result.data).times(test.transfer.exact))
    if not all(span.meets(spans[0]) for span in spans):
        raise FlawError(result.line, "its rates and times do not make the same bytes")
    sizes = (test.block and test.block.exact, test.segments, test.ranks)
    expected = prod(size for size in sizes if size) if all(sizes) else None
    if result.expected_bytes is not None and expected not in (None, result.expected_bytes):
        raise FlawError(result.line, f"{result.expected_bytes:,} bytes were expected, and the settings make {expected:,}")
    summary = test.summaries.get(result.op)
    for candidate in (result.moved_bytes, expected, _first_bytes(test, result, summary)):
        if candidate is not None and candidate <= MOST and all(span.meets(candidate) for span in spans):
            return candidate
        if result.moved_bytes is not None:
            break
    if summary and result.moved_bytes is None:
        return None
    raise FlawError(result.line, "its rate and time are not those of the bytes that it moved")


def _first_bytes(test: Test, result: Result, summary: Summary | None) -> int | None:
    if result.repetition or not summary or not test.transfer or not test.transfer.exact:
        return None
    return summary.moved.multiple(test.transfer.exact)
