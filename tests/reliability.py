"""What is promised of faults, and what the last runs of `make test proof site faults fuzz` showed.

It writes the tables of docs/reliability.md out of what these targets leave in build/. What was not run is said to be so.
"""

import json
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final, NamedTuple

from iomine.units import human_bytes

REPO: Final = Path(__file__).parents[1]
PAGE: Final = REPO / "docs" / "reliability.md"
MARK: Final = "<!-- Written by tests/reliability.py out of build/. -->\n"
# Of several runs of a test the last one's outcome counts.
TARGETS: Final = ("test", "proof", "site", "faults")


class Promise(NamedTuple):
    """What is promised, and the file of tests and the beginning of the names of those that show it."""

    text: str
    file: str
    tests: str


PROMISES: Final = (
    Promise("Killed after any stage: nobody sees a half, the next sweep finishes", "faults/test_stage_faults.py", "test_a_sweep"),
    Promise("Disk full after any stage: named, harmless", "faults/test_stage_faults.py", "test_a_disk"),
    Promise(
        "Killed at 50 moments of chance: all processes, client, worker, reader or scheduler", "cluster/test_kill.py", "test_kills"
    ),
    Promise("The command itself killed: likewise", "cluster/test_kill.py", "test_the_command"),
    Promise("Nothing outlives a sweep whose first process is killed", "cluster/test_kill.py", "test_nothing"),
    Promise("Queries during sweeps see whole nights", "cluster/test_kill.py", "test_a_reader"),
    Promise("A worker that dies or stops costs nothing but time", "cluster/test_dask.py", "test_a_worker"),
    Promise("A host that is cut off from the network costs time only", "cluster/test_hosts.py", "test_a_host"),
    Promise("A scheduler that is lost ends the sweep in a sentence", "cluster/test_dask.py", "test_a_scheduler"),
    Promise("A log that ends its reader costs itself", "unit/pipeline/test_reader.py", "test_a_log_that"),
    Promise("A log that changes or vanishes is for the next sweep", "unit/pipeline/test_reader.py", "test_a_file_that"),
    Promise("A second sweep is refused at once", "unit/cli/test_cli_sweep.py", "test_a_second"),
    Promise("Folders that cannot be read or written are named", "unit/cli/test_cli_sweep.py", "test_a_folder_that_is_closed"),
    Promise("A clock that was set back makes no sweep forgotten", "unit/lake/test_lake_tables.py", "test_a_clock"),
    Promise("Killed while mails are sent: none is sent twice", "cluster/test_post_kill.py", "test_twenty"),
)


def shown(build: Path) -> list[str]:
    """Rows of promises, with what pytest's reports in that folder say of each."""
    reports = [report for target in TARGETS if (report := build / f"{target}.xml").exists()]
    found = [case for report in reports for case in ET.parse(report).iter("testcase")]  # noqa: S314  what pytest has written
    cases = {(case.attrib["classname"], case.attrib["name"]): case for case in found}.values()
    rows = ["| what is promised | test | shown |", "|---|---|---|"]
    for promise in PROMISES:
        name = f"tests.{promise.file.removesuffix('.py').replace('/', '.')}"
        own = [case for case in cases if case.attrib["classname"] == name and case.attrib["name"].startswith(promise.tests)]
        rows.append(f"| {promise.text} | `tests/{promise.file}` | {_said(own)} |")
    return rows


def _said(cases: list[ET.Element]) -> str:
    if not cases:
        return "not run"
    failed = sum(case.find("failure") is not None or case.find("error") is not None for case in cases)
    skipped = sum(case.find("skipped") is not None for case in cases)
    parts = {"passed": len(cases) - failed - skipped, "failed": failed, "skipped": skipped}
    return ", ".join(f"{count} {word}" for word, count in parts.items() if count)


def fuzzed(result: Mapping[str, Any]) -> list[str]:
    """Rows of inputs by what became of them, and a sentence about their sweeps."""
    ends = ("read", "read, in doubt", "rejected")
    counts = result["counts"]
    kinds = sorted({end.partition(": ")[0] for end in counts})
    rows = ["| inputs | " + " | ".join(ends) + " |", "|---|--:|--:|--:|"]
    rows += [f"| {kind} | {_cells(counts, kind, ends)} |" for kind in kinds]
    said = (
        f"{sum(counts.values()):,} damaged inputs in {result['sweeps']} sweeps beside sound logs: {len(result['faults'])} faults "
        f"found. No process took more than {human_bytes(result['memory_bytes'])}, and no sweep with its views, reports and mails "
        f"more than {result['slowest_sweep_seconds']:,.0f} s."
    )
    return [*rows, "", said]


def _cells(counts: Mapping[str, int], kind: str, ends: tuple[str, ...]) -> str:
    return " | ".join(f"{counts.get(f'{kind}: {end}', 0):,}" for end in ends)


def page(text: str, build: Path) -> str:
    """The page with the tables of the last runs instead of those that it has."""
    fuzz = build / "fuzz.json"
    tables = [*shown(build), "", "## Damaged inputs", ""]
    tables += fuzzed(json.loads(fuzz.read_text())) if fuzz.exists() else ["Not run."]
    if (report := build / "pydarshan.json").exists():
        tables += ["", *beside(json.loads(report.read_text()))]
    written = date.today()  # noqa: DTZ011  a day is enough
    return f"{text.partition(MARK)[0]}{MARK}\nMeasured on {written}.\n\n" + "\n".join(tables) + "\n"


def beside(counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Rows of damaged logs by what became of them here and in PyDarshan's `DarshanReport`."""
    rows = ["| the same logs | how many ended so |", "|---|---|"]
    said = {name: ", ".join(f"{count:,} {end}" for end, count in ends.items()) for name, ends in counts.items()}
    return rows + [f"| {name} | {ends} |" for name, ends in said.items()]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), REPO / "build"), encoding="utf-8")
