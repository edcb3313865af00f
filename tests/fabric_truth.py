"""How often bad and full links are found, and the runs that they slowed: simulated facilities with known incidents.

`python tests/fabric_truth.py [SEED...]` simulates facilities, sweeps all that they leave, and writes docs/fabric_truth.md.
"""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from unittest.mock import patch

import pytest
from sweeping import write_no_reports

from iomine.pipeline.stages import context
from iomine.pipeline.sweep import Settings, run
from iomine.simulate import Settings as Facility
from iomine.simulate import simulate
from iomine.triggers import TRIGGERS
from iomine.views.query import ask

PAGE: Final = Path(__file__).parents[1] / "docs" / "fabric_truth.md"
SEEDS: Final = range(20)
LOGS, DAYS = 500, 2
CLUSTER: Final = "simulated"
# Of a run's ranks so many must be slow for the run to be a victim.
VICTIM_RATIO: Final = 0.25
SLOT_SECONDS: Final = 600
# One for each view that `job_weather` reads.
_JUDGES: Final = ("FABRIC-101", "SYSTEM-102")


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in a facility.

    Attributes:
        seed: of the facility.
        link_first: 1 where `link_faults` names the degraded link first, with its port, and begins and ends within ten minutes.
        victims: runs of whose ranks at least a quarter were behind the degraded link.
        victims_found: of these, how many have the verdict `fabric`.
        verdicts: runs with that verdict, but for those with fewer slow ranks.
        right_verdicts: of these, victims and the two jobs that filled the uplink.
        uplink_named: 1 where `link_hotspots` names the shared uplink, and `shared_links` both of its jobs.
    """

    seed: int
    link_first: int
    victims: int
    victims_found: int
    verdicts: int
    right_verdicts: int
    uplink_named: int


def found(seeds: Iterable[int]) -> Iterator[Found]:
    """What is found in facilities, two at a time."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield from pool.map(found_in, seeds)


def found_in(seed: int) -> Found:
    """What is found in a facility."""
    with TemporaryDirectory() as folder:
        out, warehouse = Path(folder) / "facility", Path(folder) / "warehouse"
        simulate(Facility(out, LOGS, seed, DAYS, CLUSTER, dxt_ratio=0), lambda *_: None)
        stats = (out / "lustre", out / "slurm", out / "fabric")
        judges = {code: TRIGGERS[code] for code in _JUDGES}
        with patch.object(context, "site_triggers", lambda _warehouse: judges), pytest.MonkeyPatch.context() as reports:
            write_no_reports(reports)
            run(Settings((out / "darshan",), warehouse, CLUSTER, workers=1, stats=stats))
        return _held_against(seed, out / "truth", warehouse / "iomine.duckdb")


def _held_against(seed: int, truth: Path, database: Path) -> Found:
    incidents = {each["kind"]: each for each in json.loads((truth / "fabric.json").read_text())["incidents"]}
    logs = [json.loads(line) for line in (truth / "logs.jsonl").open()]
    slow = {log["log"].rpartition("/")[2]: len(log["slow_ranks"]) / log["nprocs"] for log in logs}
    asked = (
        "SELECT log.path, log.job_id, weather_verdict = 'fabric' AS is_fabric FROM logs AS log JOIN job_weather USING (log_id)"
    )
    verdicts = ask(database, asked).to_pylist()
    shared = incidents["shared_uplink"]
    victims = [row for row in verdicts if slow[row["path"].rpartition("/")[2]] >= VICTIM_RATIO]
    blamed = [row for row in verdicts if row["is_fabric"]]
    settled = [row for row in blamed if not 0 < slow[row["path"].rpartition("/")[2]] < VICTIM_RATIO]
    right = [row for row in settled if row in victims or row["job_id"] in shared["jobs"]]
    return Found(
        seed,
        int(_is_first(incidents["degraded_link"], ask(database, "FROM link_faults WHERE is_faulty").to_pylist())),
        len(victims),
        sum(row["is_fabric"] for row in victims),
        len(settled),
        len(right),
        int(_is_named(shared, database)),
    )


def _is_first(incident: dict[str, Any], faults: Sequence[dict[str, Any]]) -> bool:
    """Whether the first of the faults is the incident's link, at either end, and times are right."""
    if not faults:
        return False
    ends = {(incident["guid"], incident["port"]), (incident["peer_guid"], incident["peer_port"])}
    first = faults[0]
    # A fault that lasts over midnight is a row in each night.
    of_link = [row for row in faults if (row["guid"], row["port"]) in ends]
    begin, end = (min(row["begin_at"] for row in of_link), max(row["end_at"] for row in of_link)) if of_link else (None, None)
    return (
        (first["guid"], first["port"]) in ends
        and abs(begin.timestamp() - incident["start"]) <= SLOT_SECONDS
        and abs(end.timestamp() - incident["end"]) <= SLOT_SECONDS
    )


def _is_named(incident: dict[str, Any], database: Path) -> bool:
    ends = {(incident["guid"], incident["port"]), (incident["peer_guid"], incident["peer_port"])}
    spots = ask(database, "SELECT guid, port FROM link_hotspots").to_pylist()
    pairs = ask(database, "SELECT guid, port, job_id, peer_job_id FROM shared_links WHERE utilisation_ratio >= 0.75").to_pylist()
    both = [row for row in pairs if {row["job_id"], row["peer_job_id"]} == set(incident["jobs"])]
    return any((row["guid"], row["port"]) in ends for row in spots) and any((row["guid"], row["port"]) in ends for row in both)


def page(rows: Sequence[Found]) -> str:
    """The page."""
    total = {name: sum(getattr(row, name) for row in rows) for name in Found.__slots__}
    lines = [
        "# How often bad links are found, and the runs that they slowed",
        "",
        "<!-- Written by tests/fabric_truth.py. -->",
        "",
        f"{len(rows)} simulated facilities of {LOGS:,} logs in {DAYS} days, swept with all that servers, scheduler and switches",
        "leave. In each, one uplink of a leaf switch is degraded for hours, and two jobs fill another one for half an hour.",
        "",
        "- **The degraded link**, named first by `link_faults` with its port, its begin and end within ten minutes:",
        f"  {_ratio(total['link_first'], len(rows))}.",
        "- **Its victims** (a quarter of their ranks or more behind it), by verdict `fabric` in `job_weather`: recall",
        f"  {_ratio(total['victims_found'], total['victims'])}, precision {_ratio(total['right_verdicts'], total['verdicts'])}.",
        "- **The shared uplink**, named by `link_hotspots`, and both of its jobs by `shared_links`:",
        f"  {_ratio(total['uplink_named'], len(rows))}.",
        "",
        "Runs with fewer slow ranks count neither for nor against.",
        "",
        "| seed | link named first | victims | found | verdicts | right | uplink and jobs named |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    cells = [[str(getattr(row, name)) for name in Found.__slots__] for row in rows]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in cells), ""])


def _ratio(part: int, whole: int) -> str:
    return f"{part / whole:.2f} ({part} of {whole})" if whole else "unknown (there are none)"


def main() -> None:
    """Writes the page, or shows it for some seeds."""
    seeds = [int(seed) for seed in sys.argv[1:]] or SEEDS
    rows = []
    for row in found(seeds):
        rows.append(row)
        print(row, file=sys.stderr, flush=True)  # noqa: T201  it takes minutes
    text = page(rows)
    if len(sys.argv) > 1:
        sys.stdout.write(text)
    else:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    os.nice(5)
    main()
