"""Verdicts on logs that an incident changed: simulated facilities with known incidents.

`python tests/blame_truth.py [SEED...]` simulates facilities, reads and judges what servers and the scheduler recorded, and
the logs of applications that incidents changed, as a sweep does, and writes docs/blame_truth.md.
"""

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from catalogs import catalog_of
from lineage_truth import CLUSTER, DAYS, LOGS, files_of
from simulated import Facility
from system_state_truth import UNHARMED_RATIO, VICTIM_RATIO, readings

from iomine.pipeline.judging.judge import judge
from iomine.simulate import Settings, simulate
from iomine.sources.darshan import read_log
from iomine.triggers import TRIGGERS
from iomine.views.query import ask

PAGE: Final = Path(__file__).parents[1] / "docs" / "blame_truth.md"
SEEDS: Final = range(20)
VERDICTS: Final = ("application", "system", "neighbour", "unexplained", "unclear")
LINK: Final = "Victims of the degraded link"
_OF_SERVERS: Final = {"hot_ost": "the hot OST", "metadata_storm": "the metadata storm"}
_CHANGED: Final = {"regression": "Runs after the regression", "advice_followed": "Runs after advice was followed"}
# How logs were changed, in the order of the page's table.
KINDS: Final = (
    *(f"{who} {what}" for what in _OF_SERVERS.values() for who in ("Culprits of", "Victims of")),
    LINK,
    "Runs that the link harmed little",
    *_CHANGED.values(),
    "Other runs of these applications",
)

# Logs by seed, how they were changed, and verdict.
Counts = Counter[tuple[int, str, str]]


def reported(seeds: Iterable[int]) -> Iterator[Counts]:
    """The verdicts on the logs of facilities."""
    for seed in seeds:
        with TemporaryDirectory() as folder:
            out = Path(folder) / "facility"
            simulate(Settings(out, LOGS, seed, DAYS, CLUSTER, dxt_ratio=0), lambda *_: None)
            yield counted(seed, Facility(out), Path(folder))


def counted(seed: int, facility: Facility, folder: Path) -> Counts:
    """Logs of applications that incidents changed, by how they were changed, and verdict."""
    submitted = facility.submitted()
    kinds = {log["log"]: _kinds(log, facility.incidents, submitted[log["job_id"]]) for log in facility.logs}
    changed = {log["lineage"] for log in facility.logs if kinds[log["log"]]}
    # A verdict rests on the log, its lineage and the servers, so other applications' logs need not be read.
    wanted = [log["log"] for log in facility.logs if log["lineage"] in changed]
    views = _database(facility.out, wanted, folder)
    rows = ask(views, "SELECT path, weather_verdict FROM job_weather JOIN logs USING (cluster, night, log_id)").to_pylist()
    verdicts = {row["path"]: row["weather_verdict"] for row in rows}
    return Counter((seed, kind, verdicts[log]) for log in wanted for kind in kinds[log] or [KINDS[-1]])


def _database(out: Path, logs: Iterable[str], folder: Path) -> Path:
    """The views over some logs of a facility and all records of its servers, read and judged as a sweep does."""
    read = ((CLUSTER, read_log(out / path), path) for path in logs)
    files = [*files_of(folder / "lake", read), *readings(folder / "lake", out)]
    judges = {code: each for code, each in TRIGGERS.items() if each.ruleset == "iomine"}
    judged = judge((), folder / "staging", files, judges).files
    return catalog_of(folder, [*files, *judged])


def _kinds(log: Mapping[str, Any], incidents: Mapping[str, Any], submitted: float) -> list[str]:
    """How a log was changed, which may be several ways."""
    lost = log["lost_ratio"]
    found = [
        f"{'Culprits' if incidents[kind]['user'] == log['user'] else 'Victims'} of {what}"
        for kind, what in _OF_SERVERS.items()
        if lost[kind] >= VICTIM_RATIO
    ]
    if lost["degraded_link"] > UNHARMED_RATIO:
        found.append(LINK if lost["degraded_link"] >= VICTIM_RATIO else KINDS[KINDS.index(LINK) + 1])
    return found + [
        what
        for kind, what in _CHANGED.items()
        if kind in incidents and log["lineage"] == incidents[kind]["lineage"] and submitted >= incidents[kind]["start"]
    ]


def page(counts: Counts) -> str:
    """The text of docs/blame_truth.md."""
    seeds = sorted({seed for seed, *_ in counts})
    about = (
        f"{len(seeds)} simulated facilities of {LOGS:,} logs in {DAYS} days. In each, a user's job makes an OST slow for hours, "
        "another's an MDT; a link makes all nodes behind one switch slow for a day, one application writes in small pieces from "
        "a moment on, and the user of another follows advice. Logs of the applications that any of this changed, what servers "
        "recorded, and accounting are read and judged as a sweep does. What the switches recorded is not read, so nothing can "
        "show that a link was slow: its victims are to be `unexplained`."
    )
    terms = (
        f"A log is a victim if an incident cost it at least {VICTIM_RATIO:.0%} of its time in requests and metadata calls, and a "
        "culprit where that was its own user's doing; a link harmed it little if that cost it less, but more than "
        f"{UNHARMED_RATIO:.0%}. All logs of an application after its change are counted, slow or not. A log may be in several "
        "rows. `unclear` are logs before which fewer than three runs of their lineage are known, and those of which servers have "
        "nothing. Victims of OSTs and MDTs are few here; [a page of their own](system_state_truth.md) has more."
    )
    lines = [
        "# How often the cause of slow I/O is named right",
        "",
        "<!-- Written by tests/blame_truth.py. -->",
        "",
        about,
        "",
        terms,
        "",
        *_table("logs", KINDS, lambda kind, verdict: sum(counts[seed, kind, verdict] for seed in seeds)),
        "",
        "## The degraded link, by facility",
        "",
        *_table("seed", seeds, lambda seed, verdict: counts[seed, LINK, verdict]),
    ]
    return "\n".join([*lines, ""])


def _table(head: str, rows: Sequence[Any], cell: Any) -> list[str]:
    body = [f"| {row} | {' | '.join(f'{cell(row, verdict):,}' for verdict in VERDICTS)} |" for row in rows]
    return [f"| {head} | {' | '.join(f'`{verdict}`' for verdict in VERDICTS)} |", f"| --- |{' --- |' * len(VERDICTS)}", *body]


def counts_of_page(text: str) -> tuple[Counts, Counts]:
    """The counts of both tables: of all facilities, as those of seed -1, and of the link by facility."""
    found: tuple[Counts, Counts] = (Counter(), Counter())
    for head, cells in re.findall(r"^\| ([^|`]+?) \| ([\d, |]+) \|$", text, re.MULTILINE):
        numbers = [int(cell.replace(",", "")) for cell in cells.split(" | ")]
        key = (int(head), LINK) if head.isdigit() else (-1, head)
        found[head.isdigit()].update({(*key, verdict): number for verdict, number in zip(VERDICTS, numbers, strict=True)})
    return found


def main() -> None:
    """Writes the page, or shows it for some seeds."""
    seeds = [int(seed) for seed in sys.argv[1:]] or SEEDS
    counts: Counts = Counter()
    for of_seed in reported(seeds):
        counts += of_seed
    if len(sys.argv) > 1:
        sys.stdout.write(page(counts))
    else:
        PAGE.write_text(page(counts), encoding="utf-8")


if __name__ == "__main__":
    os.nice(5)
    main()
