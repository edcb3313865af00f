"""How often phases are counted right: workloads of which it is known in how many bursts they read and write.

`python tests/phase_truth.py` writes the table into docs/phases.md.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from shared import log_of, workloads

from iomine.derive import phase_layers, phases, traces
from iomine.derive.phases import Method
from iomine.errors import UnreadableError
from iomine.sources.darshan import read_log

PAGE = Path(__file__).parents[1] / "docs" / "phases.md"
_TRACE_TABLES = ("segment", "dxt_file")
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
    """

    workload: str
    way: str
    known: tuple[int, int]
    got: tuple[int, int]


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
        for way, (evidence, method) in WAYS.items():
            tables = log.tables if evidence == "trace" else {name: log.tables[name] for name in log.tables.keys() - _TRACE_TABLES}
            yield Counted(
                workload["id"], way, known, _count(phases(phase_layers(tables, traces(tables), method), log.job.run_seconds))
            )


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


def page(found: list[Counted]) -> str:
    """The table, and each workload that is counted wrong by its trace."""
    rows = []
    for way in WAYS:
        of_way = [each for each in found if each.way == way]
        right = sum(each.known == each.got for each in of_way)
        rows.append(f"| {way} | {len(of_way)} | {right} | {right / len(of_way):.0%} |")
    missed = [each for each in found if each.way == "trace" and each.known != each.got]
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
            "## Counted wrong by their trace",
            "",
            "| workload | writes and reads in | were counted as |",
            "| --- | --- | --- |",
            *(f"| {each.workload} | {each.known[0]} and {each.known[1]} | {each.got[0]} and {each.got[1]} |" for each in missed),
            "",
        )
    )


if __name__ == "__main__":
    PAGE.write_text(page(list(counted())))
    sys.stdout.write(f"{PAGE}\n")
