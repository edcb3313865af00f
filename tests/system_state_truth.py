"""How often runs that others slowed are found, and who slowed them: simulated facilities with known incidents.

`python tests/system_state_truth.py [SEED...]` simulates facilities, judges their logs from job_stats and accounting alone,
and writes docs/system_state_truth.md. Logs themselves are not read: what the verdicts need of them is in the truth.
"""

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pyarrow as pa
from catalogs import catalog_of

from iomine.lake import LakeFile, write_file
from iomine.pipeline.ingest.statistics import InputBatch, NewInput, hash_all, read_inputs
from iomine.pipeline.judging.steps import worked
from iomine.pipeline.judging.system_state import READINGS, interval_files, slot_files, system_state_files
from iomine.schema.registry import arrow_schema
from iomine.simulate import Settings, simulate
from iomine.views.query import ask

PAGE: Final = Path(__file__).parents[1] / "docs" / "system_state_truth.md"
SEEDS: Final = range(20)
LOGS, DAYS = 3000, 3
CLUSTER: Final = "simulated"
# Shares of a log's time in requests and calls that incidents cost it: from here on it is a victim, and up to here it is none.
VICTIM_RATIO, UNHARMED_RATIO = 0.5, 0.1
_KINDS: Final = {"hot_ost": ("ost_hotspots", "OST"), "metadata_storm": ("mdt_storms", "MDT")}
_EXCUSED: Final = ("neighbour", "system")


@dataclass(frozen=True, slots=True)
class Reported:
    """What was reported of a facility.

    Attributes:
        seed: of the facility.
        victims: logs that others' incidents slowed.
        found: of these, how many were reported.
        named: of these, of how many the culprit was named.
        excused: logs that were reported as slowed by others and are not open.
        incidents: incidents on targets.
        incidents_found: how many of them the views name first, with target, time and culprit.
        hours: hours that the views list.
        right_hours: of these, those of an incident's target and time.
    """

    seed: int
    victims: int
    found: int
    named: int
    excused: int
    incidents: int
    incidents_found: int
    hours: int
    right_hours: int


def reported(seeds: Iterable[int]) -> Iterator[Reported]:
    """What is reported of facilities."""
    for seed in seeds:
        with TemporaryDirectory() as folder:
            yield _reported(seed, Path(folder))


def _reported(seed: int, folder: Path) -> Reported:
    out = folder / "facility"
    simulate(Settings(out, LOGS, seed, DAYS, CLUSTER), lambda *_: None)
    logs = [json.loads(line) for line in (out / "truth" / "logs.jsonl").open()]
    incidents = {each["kind"]: each for each in json.loads((out / "truth" / "incidents.json").read_text())["incidents"]}
    database = _database(folder, [*_logs(folder, logs), *readings(folder, out)])
    verdicts = {row["log_id"]: row for row in ask(database, "SELECT * FROM feature.log_weather_profile").to_pylist()}
    victims = found = named = excused = 0
    for log in logs:
        row = verdicts[_log_id(log)]
        lost_to = {kind: log["lost_ratio"][kind] for kind in _KINDS}
        lost = sum(lost_to.values())
        culprit = incidents[max(lost_to, key=lost_to.get)]["user"]
        is_victim = lost >= VICTIM_RATIO and log["user"] != culprit
        is_excused = row["server_verdict"] in _EXCUSED
        victims += is_victim
        found += is_victim and is_excused
        named += is_victim and is_excused and row["neighbour"] == culprit
        excused += is_excused and (is_victim or lost <= UNHARMED_RATIO or log["user"] == culprit)
    hours = {kind: ask(database, f"SELECT * FROM {view}").to_pylist() for kind, (view, _) in _KINDS.items()}
    right = {kind: [_is_of(incidents[kind], kind, hour) for hour in rows] for kind, rows in hours.items()}
    firsts = [bool(rows) and right[kind][0] and rows[0]["user"] == incidents[kind]["user"] for kind, rows in hours.items()]
    counts = (sum(map(len, hours.values())), sum(map(sum, right.values())))
    return Reported(seed, victims, found, named, excused, len(firsts), sum(firsts), *counts)


def _is_of(incident: dict[str, Any], kind: str, hour: dict[str, Any]) -> bool:
    begin = hour["begin_at"].timestamp()
    target = f"scratch-{_KINDS[kind][1]}{incident['target']:04x}"
    return hour["target"] == target and incident["start"] - 3600 < begin < incident["end"]


def _log_id(log: dict[str, Any]) -> str:
    return hashlib.sha256(log["log"].encode()).hexdigest()[:16]


def _logs(folder: Path, logs: Sequence[dict[str, Any]]) -> Iterator[LakeFile]:
    """The tables `log` and `posix_file`, as far as the verdicts need them."""
    rows: dict[date, list[dict[str, Any]]] = {}
    files: dict[date, list[dict[str, Any]]] = {}
    for log in logs:
        # darshan/YEAR/MONTH/DAY/USER_APP_idJOB-PID_MONTH-DAY-SECOND-...
        _, year, month, day, name = log["log"].split("/")
        second = int(name.rsplit("_", 2)[1].split("-")[2])
        start = datetime(int(year), int(month), int(day), tzinfo=UTC) + timedelta(seconds=second)
        end = start + timedelta(seconds=log["run_seconds"])
        app = log["application"].split()[0].rpartition("/")[2]
        row = {"log_id": _log_id(log), "job_id": log["job_id"], "user": log["user"], "app": app, "start_at": start, "end_at": end}
        rows.setdefault(end.date(), []).append(row)
        # The times of all its files together are enough.
        times = {"read_seconds": log["request_seconds"], "write_seconds": 0.0, "meta_seconds": log["meta_seconds"]}
        files.setdefault(end.date(), []).append({"log_id": _log_id(log), "file_id": 1, "rank": -1, **times})
    for table, nights in (("log", rows), ("posix_file", files)):
        for night, of_night in nights.items():
            yield write_file(folder, table, pa.Table.from_pylist(of_night, schema=arrow_schema(table)), CLUSTER, night)


def readings(folder: Path, out: Path) -> Iterable[LakeFile]:
    """What servers and the scheduler recorded, read as a sweep does."""
    paths = [*sorted((out / "lustre" / "job_stats").rglob("*.gz")), out / "slurm" / "sacct.txt"]
    found = chain.from_iterable(hash_all([str(path) for path in paths], "UTC"))
    inputs = [each for each in found if isinstance(each, NewInput)]
    return read_inputs(InputBatch(CLUSTER, "UTC", tuple(inputs)), folder).files


def _database(folder: Path, there: list[LakeFile]) -> Path:
    nights = {(file.cluster, file.night) for file in there}
    there += worked(interval_files(folder, there, {(file.cluster, file.night) for file in there if file.table in READINGS}))
    there += worked(slot_files(folder, there, nights))
    there += worked(system_state_files(folder, there, nights))
    return catalog_of(folder, there)


def page(rows: Sequence[Reported]) -> str:
    """The text of docs/system_state_truth.md."""
    all_of = {name: sum(getattr(row, name) for row in rows) for name in Reported.__slots__}
    found, excused = all_of["found"], all_of["excused"]
    recall, precision = _ratio(found, all_of["victims"]), _ratio(found, excused)
    about = (
        f"{len(rows)} simulated facilities of {LOGS:,} logs in {DAYS} days, each with an OST that one user's job makes 8 times "
        "as slow for three hours, and an MDT that another's makes 10 times as slow. A log is a victim if that cost it at least "
        f"{VICTIM_RATIO:.0%} of its time in requests and metadata calls, and it was not its own user's doing; it is none up to "
        f"{UNHARMED_RATIO:.0%}; of those in between nothing is claimed. It is reported as a victim by the verdicts `neighbour` "
        "and `system` ([what they are](system_state.md))."
    )
    lines = [
        "# How often the system state is judged right",
        "",
        "<!-- Written by tests/system_state_truth.py. -->",
        "",
        about,
        "",
        f"- **Victims**: recall {recall}, precision {precision}; of those found the culprit is named for",
        f"  {_ratio(all_of['named'], found)}.",
        f"- **Incidents**: {all_of['incidents_found']} of {all_of['incidents']} stand first in `ost_hotspots` and `mdt_storms`,",
        "  with target, hour and culprit.",
        f"- **Hours** that these views list: {all_of['right_hours']} of {all_of['hours']} are those of an incident.",
        "",
        "| seed | victims | found | culprit named | reported victims | incidents first | hours listed | of an incident |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        cells = (row.seed, row.victims, row.found, row.named, row.excused, row.incidents_found, row.hours, row.right_hours)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join([*lines, ""])


def _ratio(part: int, whole: int) -> str:
    return f"{part / whole:.2f} ({part} of {whole})" if whole else "unknown (there are none)"


def main() -> None:
    """Writes the page, or shows it for some seeds."""
    seeds = [int(seed) for seed in sys.argv[1:]] or SEEDS
    text = page(list(reported(seeds)))
    if len(sys.argv) > 1:
        sys.stdout.write(text)
    else:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    os.nice(5)
    main()
