"""How often phases are counted right: workloads of which it is known in how many bursts they read and write.

`python tests/phase_truth.py` writes the table into docs/phases.md.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from paper_phases import rule_of_the_paper
from shared import Row, log_of, truth_of, workloads

from iomine.derive import phase_layers, phases, special_files, special_ids, split_by_files, traces, traces_of_others
from iomine.derive.stretches import heatmap_stretches
from iomine.derive.trace import Tables
from iomine.errors import UnreadableError
from iomine.schema.ops import OPS
from iomine.sources.darshan import read_log

# The order of the labels, and of the pairs made of them.
_LABELLED = ("write", "read")
PAGE = Path(__file__).parents[1] / "docs" / "phases.md"
_TRACE_TABLES = ("segment", "dxt_file")
_SHOWN_BINS = 2
# Evidence and rule of each way to count.
WAYS: Mapping[str, tuple[str, Callable[[], AbstractContextManager[None]]]] = {
    "trace": ("trace", nullcontext),
    "trace, method of the paper": ("trace", rule_of_the_paper),
    "heat maps": ("heatmap", nullcontext),
    "heat maps, method of the paper": ("heatmap", rule_of_the_paper),
}


class Counted(NamedTuple):
    """What a workload was counted to have.

    Attributes:
        workload: its id.
        way: how it was counted.
        known: write phases and read phases that it has.
        labelled: the same as its labels say, which know of no phase in which it opened files above all.
        got: write phases and read phases that were found.
        bursts: bursts of a rank that were found, of writes and of reads.
        gap_bins: the shortest gap between phases of one direction, in bins of the heat map; infinite where there is none.
    """

    workload: str
    way: str
    known: tuple[int, int]
    labelled: tuple[int, int]
    got: tuple[int, int]
    bursts: tuple[int, int]
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
        labelled = (workload["truth"].get("write_phases"), workload["truth"].get("read_phases"))
        known = known_phases(workload)
        if known is None:
            continue
        try:
            log = read_log(log_of(workload))
        except UnreadableError:
            continue
        special = special_ids(special_files(log.tables))
        of_files, _ = split_by_files(log.tables, special)
        gap = min(_shortest_gap(of_files, op, count) for op, count in zip(_LABELLED, known, strict=True))
        for way, (evidence, rule) in WAYS.items():
            tables = of_files if evidence == "trace" else {name: of_files[name] for name in of_files.keys() - _TRACE_TABLES}
            requests = traces_of_others(traces(tables), special)
            with rule():
                found = phases(phase_layers(tables, requests), log.job.run_seconds)
            # What moved no bytes has no bins, nor gaps.
            gap_bins = gap / (float(heatmap_stretches(log.tables, "posix")[1].max()) or 1)
            yield Counted(workload["id"], way, known, labelled, *_count(found), gap_bins)


def known_phases(workload: Row) -> tuple[int, int] | None:
    """Write phases and read phases that a traced workload has; None where that is not known, or its data has no trace."""
    labelled = (workload["truth"].get("write_phases"), workload["truth"].get("read_phases"))
    if None in labelled or not workload.get("dxt") or workload["truth"].get("stdio_heavy"):
        return None
    return _accounted(workload, labelled)


def _accounted(workload: Row, labelled: tuple[int, int]) -> tuple[int, int]:
    """The labels, or the program's own account where they have no phase of what it says that it moved.

    Labels leave out phases that the account calls `meta`, and two programs wrote in these.
    """
    account = truth_of(workload).get("self_accounting") or {}
    issued, phases_of_all = account.get("issued_total", {}), len(account.get("phases", ()))
    write, read = (
        phases_of_all if not count and issued.get(f"{op}_bytes") else count for op, count in zip(_LABELLED, labelled, strict=True)
    )
    return (write, read)


def _count(columns: Mapping[str, Any]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Phases of the whole log with bytes written and with bytes read, and the bursts of a rank in both directions."""
    names = ("layer", "write_bytes", "read_bytes", "op", "bursts_per_rank")
    rows = zip(*(columns[name].to_pylist() for name in names), strict=True) if columns else ()
    whole = [row for row in rows if row[0] == "all"]
    write, read = (max((bursts for *_, of, bursts in whole if of == op), default=0) for op in _LABELLED)
    return (sum(row[1] > 0 for row in whole), sum(row[2] > 0 for row in whole)), (write, read)


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
        rows.append(_share(way, right, len(of_way)))
    traced = [each for each in found if each.way == "trace"]
    rows.append(_share("trace, bursts of a rank", sum(each.bursts == each.known for each in traced), len(traced)))
    by_heat = [each for each in found if each.way == "heat maps"]
    return "\n".join(
        (
            "# How often phases are counted right",
            "",
            "<!-- Written by tests/phase_truth.py. -->",
            "",
            "Phases with bytes written and with bytes read of the whole log, on programs of which it is known in how many",
            "bursts they write and read; right are those of which both numbers are. Heat maps are those of the same logs. Bursts",
            "of a rank are what the same rule finds in the requests of each rank by itself, the median over ranks.",
            "",
            "Known is what the labels of a program say. Two programs open files in a loop and write to each: their labels have",
            "no phase, but their own description has one (called metadata), and that is what counts here. By labels alone,",
            f"traces are right {sum(each.got == each.labelled for each in traced)} times of {len(traced)}.",
            "",
            "| way | logs | right | share |",
            "| --- | --- | --- | --- |",
            *rows,
            "",
            "## Heat maps within their resolution",
            "",
            "A gap that is as long as two bins always contains an empty bin, wherever it begins. The shortest gap between phases",
            "of one direction is taken from the traces.",
            "",
            "| shortest gap | logs | right | share |",
            "| --- | --- | --- | --- |",
            *(_of_shown([each for each in by_heat if each.is_shown is shown], shown) for shown in (True, False)),
            "",
            *_missed("Counted wrong by their trace", traced),
            *_missed("Counted wrong by their heat maps", by_heat),
            "## Where phases and bursts of a rank differ",
            "",
            "By trace. There are more phases where ranks take turns or one is late, and fewer where ranks drift apart, so that",
            "one is busy while others pause: for some milliseconds between two collective calls, say.",
            "",
            "| workload | writes and reads in | phases | bursts of a rank |",
            "| --- | --- | --- | --- |",
            *(
                f"| {each.workload} | {_both(each.known)} | {_both(each.got)} | {_both(each.bursts)} |"
                for each in traced
                if each.got != each.bursts
            ),
            "",
        )
    )


def _share(name: str, right: int, total: int) -> str:
    return f"| {name} | {total} | {right} | {right / total:.0%} |"


def _both(counts: tuple[int, int]) -> str:
    return f"{counts[0]} and {counts[1]}"


def _of_shown(counted: list[Counted], shown: bool) -> str:
    right = sum(each.is_right for each in counted)
    name = "two bins or more, or no gap" if shown else "less than two bins"
    return _share(name, right, len(counted))


def _missed(title: str, counted: list[Counted]) -> tuple[str, ...]:
    return (
        f"## {title}",
        "",
        "| workload | writes and reads in | were counted as | shortest gap in bins |",
        "| --- | --- | --- | --- |",
        *(
            f"| {each.workload} | {_both(each.known)} | {_both(each.got)} | {_bins(each)} |"
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
