"""A warehouse of made-up rows, all of which are known, and hostile names in every place that has a name."""

import datetime as dt
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from outline import HOSTILE

from iomine.schema import TABLES
from iomine.schema.registry import arrow_schema
from iomine.triggers import reference_table
from iomine.views.catalog import build_catalog
from iomine.views.query import ask

Row = dict[str, Any]
FIRST: Final = dt.date(2024, 4, 1)
NIGHTS: Final = 12
LOGS: Final = 300
TRACED: Final = f"{7:016x}"
REQUESTS: Final = 2000
_START: Final = dt.datetime(2024, 4, 1, tzinfo=dt.UTC)
_HOUR: Final = dt.timedelta(hours=1)
_CODES: Final = ("POSIX-101", "POSIX-102", "FILE-101", "LUSTRE-101")
_NAMES: Final = ("ada", "bob", "", *HOSTILE.values())


class Facility:
    """The rows, and the warehouse that holds them.

    Args:
        root: the warehouse.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        dice = random.Random(5)
        self.logs = [_log(dice, number) for number in range(LOGS)]
        jobs = [_job(dice, log) for log in self.logs if dice.random() < 0.8]
        # The same job comes once a night.
        self.jobs = list({(job["cluster"], job["night"], job["job_id"]): job for job in jobs}.values())
        self.verdicts = [verdict for log in self.logs for verdict in _verdicts(dice, log)]
        self.rejects = [_reject(dice, number) for number in range(40)]
        self.sweeps = [_sweep(number) for number in range(3)]
        self.slots = list(_slots(dice))
        self.mounts = list(_mounts(random.Random(6)))
        self.requests = [_request(dice, self.logs[int(TRACED, 16)]) for _ in range(REQUESTS)]
        self._build()

    @property
    def findings(self) -> list[Row]:
        """Findings, with their log's columns."""
        logs = {log["log_id"]: log for log in self.logs}
        return [
            logs[each["log_id"]] | each
            for each in self.verdicts
            if each["ruleset"] == "iomine" and each["state"] == "fired" and each["level"] in {"high", "warn"}
        ]

    def _build(self) -> None:
        tables: dict[str, Sequence[Row]] = {
            "log": self.logs, "job": self.jobs, "verdict": self.verdicts, "reject": self.rejects, "sweep": self.sweeps,
            "server_slot": self.slots, "segment": self.requests, "mount_night": self.mounts,
        }  # fmt: skip
        files = {name: _written(self.root / "lake" / name, name, rows) for name, rows in tables.items()}
        self._publish(files)
        # As a sweep does it: sums of nights are rows of tables of their own.
        for name in ("app_night", "finding_night"):
            columns = ", ".join(f'"{column}"' for column in arrow_schema(name, with_partition_keys=True).names)
            rows = ask(self.root / "iomine.duckdb", f"SELECT {columns} FROM feature.{name}").to_pylist()
            files[name] = _written(self.root / "lake" / name, name, rows)
        self._publish(files)

    def _publish(self, files: Mapping[str, list[str]]) -> None:
        build_catalog(self.root / "iomine.duckdb", files, {"triggers": reference_table()}, {})


def _written(folder: Path, name: str, rows: Sequence[Row]) -> list[str]:
    places: dict[Path, list[Row]] = {}
    for row in rows:
        place = folder / f"cluster={row['cluster']}" / f"night={row['night']}" if TABLES[name].partitioned else folder
        places.setdefault(place, []).append({column: row.get(column) for column in TABLES[name].columns})
    for place, found in places.items():
        place.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(found, schema=arrow_schema(name)), place / "part-0.parquet")
    return [str(place / "part-0.parquet") for place in places]


def _log(dice: random.Random, number: int) -> Row:
    night = FIRST + dt.timedelta(days=dice.randrange(NIGHTS))
    start = dt.datetime.combine(night, dt.time(dice.randrange(20)), dt.UTC)
    nprocs, run_seconds = dice.choice((1, 4, 64)), float(dice.randrange(10, 5000))
    user, app = dice.choice(_NAMES), dice.choice(_NAMES[:2] + _NAMES[3:])
    return {
        "log_id": f"{number:016x}", "cluster": dice.choice(("blue", "blue", "green")), "night": night,
        "job_id": f"job {number // 2}",
        "uid": None if dice.random() < 0.05 else 1000 + _NAMES.index(user), "user": user, "exe": f"/bin/{app} -n", "app": app,
        "application": app, "nprocs": nprocs, "start_at": start,
        "end_at": start + dt.timedelta(seconds=run_seconds),
        "run_seconds": run_seconds, "format_version": "3.41", "darshan_version": "3.4.4", "is_partial": False, "doubt": "",
        "read_bytes": dice.randrange(2**40), "write_bytes": dice.randrange(2**40), "read_count": 10, "write_count": 10,
        "io_core_seconds": None if dice.random() < 0.1 else run_seconds * nprocs * dice.random(),
        "path": f"/logs/{user}", "size_bytes": 1000, "lineage_id": f"{number % 7:016x}", "io_signature": "writes",
    }  # fmt: skip


def _job(dice: random.Random, log: Row) -> Row:
    kept = ("cluster", "night", "job_id", "user", "uid", "start_at", "end_at")
    return {name: log[name] for name in kept} | {
        "run_seconds": dice.choice((0.0, 60.0, 3600.0)), "node_count": dice.randrange(1, 9), "job_state": "COMPLETED",
        "account": dice.choice((None, "p1", HOSTILE["tag"])), "job_name": dice.choice(_NAMES), "scheduler": "slurm",
    }  # fmt: skip


def _verdicts(dice: random.Random, log: Row) -> Iterator[Row]:
    for code in _CODES:
        state = dice.choice(("fired", "clear", "clear", "unknown"))
        cost = None if dice.random() < 0.2 else 3000 * dice.random()
        yield {
            "log_id": log["log_id"], "cluster": log["cluster"], "night": log["night"], "code": code, "state": state,
            "ruleset": dice.choice(("iomine", "iomine", "drishti")), "level": dice.choice(("high", "warn", "info")),
            "value": 0.5, "bar": 0.1, "trigger_version": "1", "evidence": "bins", "finding": f"{code} in {log['app']}.",
            "advice": "Write more.", "cost_core_seconds": cost, "charged_core_seconds": cost and cost / 2,
            "is_facility_cause": code == "LUSTRE-101",
        }  # fmt: skip


def _reject(dice: random.Random, number: int) -> Row:
    return {
        "path": f"/logs/{dice.choice(_NAMES)}{number}", "sha256": f"{number:064x}", "size_bytes": number, "is_final": True,
        "stage": dice.choice(("find", "read")), "reason": f"It is cut short: {dice.choice(_NAMES)}", "reader_version": "0",
        "at": _START + number * _HOUR,
    }  # fmt: skip


def _sweep(number: int) -> Row:
    start = _START + number * 24 * _HOUR + 3 * _HOUR
    return {
        "sweep_id": f"{number:032x}", "cluster": "blue", "paths": ["/logs"], "start_at": start, "end_at": start + _HOUR,
        "found_count": 100 + number, "ingested_count": 90, "known_count": 5, "rejected_count": 5 + number, "reader_version": "0",
    }  # fmt: skip


def _slots(dice: random.Random) -> Iterator[Row]:
    """Ten-minute slots of four targets, of which some are slow."""
    for number in range(400):
        begin = _START + dice.randrange(NIGHTS * 24) * _HOUR
        kind = dice.choice(("ost", "mdt"))
        usual = 1 + dice.random()
        yield {
            "cluster": "blue", "night": begin.date(), "begin_at": begin, "target": f"scratch-{kind.upper()}000{number % 4}",
            "target_kind": kind, "owner": f"{number}", "job_id": f"job {number}", "user": dice.choice(_NAMES), "rpc_count": 10,
            "moved_bytes": 1000, "usual_service_seconds": usual, "service_seconds": usual * dice.choice((1, 2.5, 6)),
        }  # fmt: skip


def _mounts(dice: random.Random) -> Iterator[Row]:
    """What programs did on file systems, of which the servers of one are known."""
    for night in range(NIGHTS):
        for mount in ("/scratch", "/lus/home", f"/{HOSTILE['tag']}"):
            for user, app in ((dice.choice(_NAMES), "solve"), (dice.choice(_NAMES), "post")):
                yield {
                    "cluster": dice.choice(("blue", "green")), "night": FIRST + dt.timedelta(days=night), "user": user,
                    "uid": 1000 + _NAMES.index(user), "app": app, "mount": mount, "fs_type": "lustre",
                    "log_count": dice.randrange(1, 9), "file_count": dice.randrange(100),
                    "written_file_count": dice.randrange(50), "small_written_file_count": dice.randrange(9),
                    "read_bytes": dice.randrange(2**40), "write_bytes": dice.randrange(2**40),
                    "io_core_seconds": 1000 * dice.random(), "meta_core_seconds": 100 * dice.random(),
                }  # fmt: skip


def _request(dice: random.Random, log: Row) -> Row:
    start = 100 * dice.random()
    return {
        **{name: log[name] for name in ("log_id", "cluster", "night")}, "file_id": 1, "layer": dice.choice(("posix", "mpiio")),
        "rank": dice.randrange(8), "host": "node1", "op": dice.choice(("read", "write")), "offset_bytes": dice.randrange(2**30),
        "length_bytes": dice.randrange(2**20), "start_seconds": start, "end_seconds": start + dice.random(), "thread_id": None,
    }  # fmt: skip
