"""How fast iomine is, beside its peers and as its work grows: one run, one table.

    python tests/bench/performance.py [--only reader,judge] [--rounds N] [--cache DIR] [--resume] [--write] [sizes]

What was measured is kept in the cache, part by part and sweep by sweep: `--resume` takes it from there, so that a run that
was cut off goes on where it was. `--write` puts it into docs/performance.md, where parts that are not asked for stay as they
were measured, on another day and perhaps on another machine: each says when and on which. Exits with 1 where a target is missed.
"""

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import part_archive
import part_backfill
import part_commands
import part_drishti
import part_explorer
import part_judge
import part_known
import part_load
import part_packing
import part_reader
import part_sweeps
import part_traces
import part_views
import psutil
from options import Options, kept
from results import HEAD, Result, lines

from iomine.units import human_bytes, human_seconds

PAGE: Final = Path(__file__).parents[2] / "docs/performance.md"
MADE: Final = "<!-- Written by tests/bench/performance.py: run `make bench BENCH=--write`. -->"
_INTRO: Final = """\
Each row is a median. If a row names a peer, the ratio compares CPU seconds, or elapsed seconds if both are given in these, in
the direction that the target states. The spread is the difference between the slowest and the fastest run, as a share of the
median."""
MACHINE: Final = ("memory", "kernel", "Python", "packages")
_PACKAGES: Final = ("numpy", "pyarrow", "duckdb", "deltalake", "dask", "distributed", "prefect", "darshan")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the table.

    Attributes:
        title: above it.
        measured: gives its rows.
        sizes: names of the options that say how much is measured.
    """

    title: str
    measured: Callable[[Options], list[Result]]
    sizes: tuple[str, ...] = ()


def _sweeps_and_readers(options: Options) -> list[Result]:
    return [*part_sweeps.measured(options), *part_load.measured(options)]


PARTS: Final = {
    "commands": Part("Commands", part_commands.measured),
    "reader": Part("Reading", part_reader.measured),
    "judge": Part("Judging", part_judge.measured, ("night", "history")),
    "drishti": Part("Verdicts", part_drishti.measured, ("night",)),
    "traces": Part("Traces", part_traces.measured, ("requests",)),
    "explorer": Part("Reports with traces", part_explorer.measured, ("requests",)),
    "views": Part("Views", part_views.measured, ("year",)),
    "known": Part("Known logs", part_known.measured, ("known",)),
    "packing": Part("Packing", part_packing.measured, ("packed",)),
    "archive": Part("Archives of older formats", part_archive.measured, ("archive",)),
    "backfill": Part("Backfill", part_backfill.measured, ("nights", "kills")),
    "sweeps": Part("Sweeps", _sweeps_and_readers, ("largest", "shared_night")),
}


def main() -> int:
    """Measures what is asked for, prints it, and writes the page."""
    arguments = _parser().parse_args()
    names = arguments.only or list(PARTS)
    chosen = {field: value for field, value in vars(arguments).items() if field not in {"only", "write"}}
    options = Options(**chosen)
    options.cache.mkdir(parents=True, exist_ok=True)
    found = {name: _measured(name, options) for name in names}
    for name, reported in found.items():
        sys.stdout.write("\n".join([PARTS[name].title, "", *lines([HEAD, *(row.cells for row in reported["results"])]), "", ""]))
    missed = [row.what.strip() for reported in found.values() for row in reported["results"] if row.is_met is False]
    sys.stdout.write("".join(f"MISSED: {what}\n" for what in missed))
    if arguments.write:
        PAGE.write_text(page(machine(), found, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 1 if missed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="How fast iomine is.")
    parser.add_argument("--only", type=_names, help=f"parts, with commas between them: {', '.join(PARTS)}")
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[3] / "shared/data", help="the sets of real logs")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "iomine-bench")
    parser.add_argument("--resume", action="store_true", help="take what is kept in the cache for measured")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each; the median counts")
    parser.add_argument("--night", type=int, default=10_000, help="logs of the night that is judged")
    parser.add_argument("--history", type=int, default=1_000_000, help="logs of the history that is judged")
    parser.add_argument("--requests", type=int, default=10_000_000, help="traced requests of the longest log")
    parser.add_argument("--year", type=int, default=1_000_000, help="logs of the year that views are asked about")
    parser.add_argument("--known", type=int, default=1_000_000, help="known logs that are found once more")
    parser.add_argument("--packed", type=int, default=100_000, help="logs of the largest archive, a power of ten")
    parser.add_argument("--archive", type=int, default=10_000, help="logs of the largest archive of older formats, up to 150,000")
    parser.add_argument("--nights", type=int, default=365, help="nights of 100 logs that are swept one after the other")
    parser.add_argument("--kills", type=int, default=10, help="how often that is killed")
    parser.add_argument("--largest", type=int, default=10_000, help="logs of the largest sweep, a power of ten")
    parser.add_argument("--shared-night", type=int, default=20_000, help="logs of the night that two workers share")
    return parser


def _names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in PARTS]:
        raise argparse.ArgumentTypeError(f"there is no part {', '.join(unknown)}: choose from {', '.join(PARTS)}")
    return names


def _measured(name: str, options: Options) -> dict[str, Any]:
    """A part's rows, and when, where and how long they were measured."""
    part = PARTS[name]

    def measure() -> dict[str, Any]:
        start = time.perf_counter()
        rows = [asdict(row) for row in part.measured(options)]
        at = datetime.now(UTC).isoformat(timespec="minutes")
        return {
            "results": rows,
            "at": at,
            "processor": processor(),
            "seconds": time.perf_counter() - start,
            "load": os.getloadavg()[0],
        }

    reported: dict[str, Any] = kept(options, "-".join([name, *(str(getattr(options, size)) for size in part.sizes)]), measure)
    return reported | {"results": [Result(**row) for row in reported["results"]]}


def processor() -> str:
    """Its model, and how many cores there are to use."""
    model = next(
        line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line
    )
    return f"{model}, {len(os.sched_getaffinity(0))} cores"


def machine() -> dict[str, str]:
    """What else the numbers of the parts that were measured last hold for."""
    return dict(
        zip(
            MACHINE,
            (
                human_bytes(psutil.virtual_memory().total),
                platform.release(),
                platform.python_version(),
                ", ".join(f"{package} {version(package)}" for package in _PACKAGES),
            ),
            strict=True,
        )
    )


def page(machine_text: Mapping[str, str], parts: Mapping[str, Mapping[str, Any]], before: str = "") -> str:
    """The text of docs/performance.md.

    Args:
        machine_text: from `machine`.
        parts: of each part that was measured its `results`, when (`at`), where (`processor`), for how long (`seconds`), and the
            machine's load then.
        before: the page as it was, out of which come parts that were not.
    """
    kept = dict(section.split("\n", 1) for section in before.split("\n## ")[1:])
    about = [f"- {what}: {value}" for what, value in machine_text.items()]
    sections = [
        line
        for name, part in PARTS.items()
        for line in (_section(part, parts[name]) if name in parts else [f"## {part.title}", *kept[part.title].splitlines(), ""])
    ]
    return "\n".join(["# Performance", "", MADE, "", _INTRO, "", *about, "", *sections])


def _section(part: Part, reported: Mapping[str, Any]) -> list[str]:
    took = human_seconds(reported["seconds"])
    when = f"Measured {reported['at']} on {reported['processor']}, in {took}; load at its end {reported['load']:.1f}."
    rows: Sequence[Result] = reported["results"]
    table = [HEAD, ("---",) * len(HEAD), *(row.cells for row in rows)]
    return [f"## {part.title}", "", when, "", *("| " + " | ".join(cells) + " |" for cells in table), ""]


if __name__ == "__main__":
    sys.exit(main())
