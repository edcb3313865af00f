"""How often phases are counted right: workloads of which it is known in how many bursts they read and write.

`python tests/phase_truth.py` writes the table into docs/phases.md.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from shared import log_of, workloads

from iomine.derive import phase_layers, phases, traces
from iomine.derive.phases import Method
from iomine.derive.stretches import heatmap_stretches
from iomine.derive.trace import OPS, Tables
from iomine.errors import UnreadableError
from iomine.sources.darshan import read_log

PAGE = Path(__file__).parents[1] / "docs" / "phases.md"
_TRACE_TABLES = ("segment", "dxt_file")
_SHOWN_BINS = 2
# Evidence and method of each way to count.
WAYS: Mapping[str, tuple[str, Method]] = {
    "trace": ("trace", "gaps"),
    "trace, method of the paper": ("trace", "paper"),
    "heat maps": ("heatmap", "gaps"),
    "heat maps, method of the paper": ("heatmap", "paper"),
}


class Counted(NamedTuple):
    """What a workload was counted to have.

    Attributes:
        workload: its id.
        way: how it was counted.
        known: write phases and read phases that it has.
        got: write phases and read phases that were found.
        gap_bins: the shortest gap between phases of one direction, in bins of the heat map; infinite where there is none.
    """

    workload: str
    way: str
    known: tuple[int, int]
    got: tuple[int, int]
    gap_bins: float

    @property
    def is_right(self) -> bool:
        """Whether both numbers are."""
        return self.known == self.got

    @property
    def is_shown(self) -> bool:
        """Whether a heat map shows the gaps: of two bins' width, a gap holds a whole bin wherever it begins."""
        return self.gap_bins >= _SHOWN_BINS


def counted() -> Iterator[Counted]:
    """Every traced workload whose phases are known, counted in every way; data through stdio has no traces."""
    for workload in workloads():
        known = (workload["truth"].get("write_phases"), workload["truth"].get("read_phases"))
        if None in known or not workload.get("dxt") or workload["truth"].get("stdio_heavy"):
            continue
        try:
            log = read_log(log_of(workload))
        except UnreadableError:
            continue
        gap = min(_shortest_gap(log.tables, op, count) for op, count in zip(OPS, known, strict=True))
        for way, (evidence, method) in WAYS.items():
            tables = log.tables if evidence == "trace" else {name: log.tables[name] for name in log.tables.keys() - _TRACE_TABLES}
            got = _count(phases(phase_layers(tables, traces(tables), method), log.job.run_seconds))
            # What moved no bytes has no bins, nor gaps.
            yield Counted(workload["id"], way, known, got, gap / (heatmap_stretches(log.tables, "posix")[1] or 1))


def _count(columns: Mapping[str, Any]) -> tuple[int, int]:
    """Phases of the whole log with bytes written and with bytes read."""
    if not columns:
        return (0, 0)
    whole = [layer == "all" for layer in columns["layer"].to_pylist()]
    written, read = (
        sum(is_whole and moved > 0 for is_whole, moved in zip(whole, columns[name].to_pylist(), strict=True))
        for name in ("write_bytes", "read_bytes")
    )
    return (written, read)


def _shortest_gap(tables: Tables, op: str, count: int) -> float:
    """Seconds of the shortest of the gaps that part so many phases: the longest in which the trace has no request."""
    trace = next((trace for trace in traces(tables) if trace.layer == "posix"), None)
    if count < 2 or trace is None:
        return np.inf
    is_op = np.repeat(trace.ops == OPS.index(op), trace.counts)
    starts, ends = np.sort(trace.starts[is_op]), np.sort(trace.ends[is_op])
    gaps = np.sort(np.maximum(starts[1:] - ends[:-1], 0))[::-1]
    return float(gaps[count - 2]) if len(gaps) > count - 2 else 0.0


def page(found: list[Counted]) -> str:
    """The tables, and each workload that is counted wrong by its trace or by its heat maps."""
    rows = []
    for way in WAYS:
        of_way = [each for each in found if each.way == way]
        right = sum(each.is_right for each in of_way)
        rows.append(f"| {way} | {len(of_way)} | {right} | {right / len(of_way):.0%} |")
    by_heat = [each for each in found if each.way == "heat maps"]
    return "\n".join(
        (
            "# How often phases are counted right",
            "",
            "<!-- Written by tests/phase_truth.py. -->",
            "",
            "Phases with bytes written and with bytes read of the whole log, on programs of which it is known in how many",
            "bursts they write and read; right are those of which both numbers are. Heat maps are those of the same logs.",
            "",
            "| way | logs | right | share |",
            "| --- | --- | --- | --- |",
            *rows,
            "",
            "## Heat maps within their resolution",
            "",
            "A gap is sure to leave an empty bin if it is as long as two: then it holds a whole bin wherever it begins. How long",
            "the shortest gap is that parts phases of one direction, their traces say.",
            "",
            "| shortest gap | logs | right | share |",
            "| --- | --- | --- | --- |",
            *(_of_shown([each for each in by_heat if each.is_shown is shown], shown) for shown in (True, False)),
            "",
            *_missed("Counted wrong by their trace", [each for each in found if each.way == "trace"]),
            *_missed("Counted wrong by their heat maps", by_heat),
        )
    )


def _of_shown(counted: list[Counted], shown: bool) -> str:
    right = sum(each.is_right for each in counted)
    name = "two bins or more, or none to part" if shown else "less than two bins"
    return f"| {name} | {len(counted)} | {right} | {right / len(counted):.0%} |"


def _missed(title: str, counted: list[Counted]) -> tuple[str, ...]:
    return (
        f"## {title}",
        "",
        "| workload | writes and reads in | were counted as | shortest gap in bins |",
        "| --- | --- | --- | --- |",
        *(
            f"| {each.workload} | {each.known[0]} and {each.known[1]} | {each.got[0]} and {each.got[1]} | {_bins(each)} |"
            for each in counted
            if not each.is_right
        ),
        "",
    )


def _bins(each: Counted) -> str:
    return "none" if each.gap_bins == np.inf else f"{each.gap_bins:.1f}"


if __name__ == "__main__":
    PAGE.write_text(page(list(counted())))
    sys.stdout.write(f"{PAGE}\n")
