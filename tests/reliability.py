"""What is promised of faults, and what the last runs of `make test proof site faults fuzz` and tests/bench/crowd.py showed.

It writes the tables of docs/reliability.md out of what these leave in build/. What was not run is said to be so.
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


PROMISES: Final = {
    "Logs and other inputs": (
        Promise("Damaged inputs of all kinds cost themselves alone", "unit/pipeline/test_sweep_mutations.py", "test_damaged"),
        Promise(
            "Sound logs beside hostile ones have the rows that they have alone",
            "unit/pipeline/test_hostile_sweep.py",
            "test_sound",
        ),
        Promise("What cannot be is NULL and marked", "unit/pipeline/test_hostile_sweep.py", "test_what_cannot"),
        Promise("A verdict that rests on a doubt is never clear", "unit/pipeline/test_hostile_sweep.py", "test_what_rests"),
        Promise("A log that no question can deal with costs itself", "unit/pipeline/test_hostile_sweep.py", "test_a_log_that_no"),
        Promise("Triggers, views, reports and mails take the largest numbers", "unit/pipeline/test_extremes.py", "test_every"),
        Promise("A log that ends its reader costs itself", "unit/pipeline/test_reader.py", "test_a_log_that"),
        Promise("Logs that end readers share a limit of time", "unit/pipeline/test_reader.py", "test_deadly"),
        Promise("A log that changes or vanishes is for the next sweep", "unit/pipeline/test_reader.py", "test_a_file_that"),
        Promise("Likewise between the stages of a sweep", "faults/test_stage_faults.py", "test_a_log_that_changes"),
        Promise("A log that another user wrote is nobody's offence", "unit/pipeline/test_owners.py", "test_a_forged"),
        Promise("No sum, ranking or mail holds such a log", "unit/views/test_cases.py", "test_what_sums_up"),
        Promise("No text of an input steers a terminal", "unit/cli/test_hostile_input.py", "test_commands"),
    ),
    "Sweeps": (
        Promise(
            "Killed after any stage: nobody sees a half, the next sweep finishes", "faults/test_stage_faults.py", "test_a_sweep"
        ),
        Promise("Disk full after any stage: named, harmless", "faults/test_stage_faults.py", "test_a_disk"),
        Promise(
            "A clock that jumps by a day back or a year ahead changes nothing", "faults/test_stage_faults.py", "test_a_clock"
        ),
        Promise("Logs on a read-only disk are read", "faults/test_stage_faults.py", "test_logs_on"),
        Promise(
            "Killed at 20 or 50 moments of chance: all processes, client, worker, reader or scheduler; tables equal bit by bit",
            "cluster/test_kill.py",
            "test_kills",
        ),
        Promise("The command itself killed: likewise", "cluster/test_kill.py", "test_the_command"),
        Promise("Nothing outlives a sweep whose first process is killed", "cluster/test_kill.py", "test_nothing"),
        Promise("Queries during sweeps see whole nights", "cluster/test_kill.py", "test_a_reader"),
        Promise("So do four readers at once, with retention", "cluster/test_load.py", "test_four"),
        Promise("A worker that dies or stops costs nothing but time", "cluster/test_dask.py", "test_a_worker"),
        Promise("What kills its workers costs itself alone", "cluster/test_dask.py", "test_what_kills"),
        Promise("A host that is cut off from the network costs time only", "cluster/test_hosts.py", "test_a_host"),
        Promise("A scheduler that is lost ends the sweep in a sentence", "cluster/test_dask.py", "test_a_scheduler"),
        Promise("A Prefect server that is lost after publishing costs a warning", "unit/flows/test_api.py", "test_a_server"),
        Promise("A second sweep is refused at once", "unit/cli/test_cli_sweep.py", "test_a_second"),
        Promise("Folders that cannot be read or written are named", "unit/cli/test_cli_sweep.py", "test_a_folder_that_is_closed"),
        Promise("A clock that was set back makes no sweep forgotten", "unit/lake/test_lake_tables.py", "test_a_clock"),
        Promise("Killed while mails are sent: none is sent twice", "cluster/test_post_kill.py", "test_twenty"),
    ),
    "Warehouses": (
        Promise(
            "The sixtieth night costs at most 1.2 times one of the first week",
            "unit/pipeline/test_growth.py",
            "test_the_sixtieth",
        ),
        Promise("Upgraded from three older commits, every view answers as anew", "cluster/test_upgrade_kill.py", "test_every"),
        Promise("An upgrade that is killed goes on where it was", "unit/pipeline/test_upgrade.py", "test_a_killed"),
        Promise("A warehouse of another version is refused", "unit/pipeline/test_hostile_sweep.py", "test_a_lake"),
    ),
    "Other people": (
        Promise("Who has no keys cannot reach a scheduler of ours", "unit/pipeline/test_pipeline_cluster.py", "test_whoever"),
        Promise("Connections that ask for nothing keep nobody out", "unit/web/test_web_crowd.py", "test_connections"),
        Promise("Who cannot be answered soon is asked to come again", "unit/web/test_web_crowd.py", "test_who_cannot"),
        Promise("Licences of all dependencies can be taken", "house/test_dependencies.py", "test_a_licence"),
        Promise("What is installed is locked by hashes", "house/test_dependencies.py", "test_the_lock"),
    ),
}


def shown(build: Path) -> list[str]:
    """Rows of promises, with what pytest's reports in that folder say of each."""
    reports = [report for target in TARGETS if (report := build / f"{target}.xml").exists()]
    found = [case for report in reports for case in ET.parse(report).iter("testcase")]  # noqa: S314  what pytest has written
    cases = {(case.attrib["classname"], case.attrib["name"]): case for case in found}.values()
    rows = []
    for about, promises in PROMISES.items():
        rows += ["", f"## {about}", "", "| what is promised | test | shown |", "|---|---|---|"]
        for promise in promises:
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
    figures = [each.attrib["value"] for case in cases for each in case.iter("property") if each.attrib["name"] == "figure"]
    return "; ".join([", ".join(f"{count} {word}" for word, count in parts.items() if count), *figures])


def fuzzed(result: Mapping[str, Any]) -> list[str]:
    """Rows of inputs by what became of them, and a sentence about their sweeps."""
    ends = ("read", "read, in doubt", "rejected")
    counts = result["counts"]
    kinds = sorted({end.partition(": ")[0] for end in counts})
    rows = ["| inputs | " + " | ".join(ends) + " |", "|---|--:|--:|--:|"]
    rows += [f"| {kind} | {_cells(counts, kind, ends)} |" for kind in kinds]
    memory = ", ".join(f"{part} {human_bytes(held)}" for part, held in result["memory_bytes"].items())
    said = (
        f"{sum(counts.values()):,} damaged inputs in {result['sweeps']} sweeps beside sound logs: {len(result['faults'])} faults "
        f"found. The slowest sweep with its views, reports and mails took {result['slowest_sweep_seconds']:,.0f} s on a machine "
        f"that had other work. Memory at most: {memory}."
    )
    return [*rows, "", said, "", *beside(result["beside"])]


def _cells(counts: Mapping[str, int], kind: str, ends: tuple[str, ...]) -> str:
    return " | ".join(f"{counts.get(f'{kind}: {end}', 0):,}" for end in ends)


def page(text: str, build: Path) -> str:
    """The page with the tables of the last runs instead of those that it has."""
    fuzz, crowd = build / "fuzz.json", build / "crowd.md"
    tables = [*shown(build), "", "## Damaged inputs", ""]
    tables += fuzzed(json.loads(fuzz.read_text())) if fuzz.exists() else ["Not run."]
    tables += ["", "## A crowd before `iomine serve`", "", crowd.read_text().rstrip() if crowd.exists() else "Not run."]
    written = date.today()  # noqa: DTZ011  a day is enough
    return f"{text.partition(MARK)[0]}{MARK}\nMeasured on {written}.\n" + "\n".join(tables) + "\n"


def beside(counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Rows of damaged logs by what became of them here and in PyDarshan's `DarshanReport`."""
    rows = ["| the same logs | how many ended so |", "|---|---|"]
    said = {name: ", ".join(f"{count:,} {end}" for end, count in ends.items()) for name, ends in counts.items()}
    return rows + [f"| {name} | {ends} |" for name, ends in said.items()]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), REPO / "build"), encoding="utf-8")
