"""A site with users, a project and roles, and a server that knows them."""

import datetime as dt
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import uvicorn
from web_server import LIMITS, Reply, ask_server

from iomine.post.access import site_access
from iomine.schema import TABLES
from iomine.schema.registry import arrow_schema
from iomine.triggers import reference_table
from iomine.views.catalog import build_catalog
from iomine.views.query import ask
from iomine.web.access import doorkeeper_of
from iomine.web.app import make_app
from iomine.web.guard import LOOPBACK
from iomine.web.server import address_of, bind, config_of

NIGHT: Final = dt.date(2024, 4, 1)
USERS: Final = ("alice", "bob", "carla", "dora", "emil")
SECRET: Final = "correct horse battery staple"  # noqa: S105
# Alice and dora ran under the account that carla leads.
ACCOUNTS: Final = {"alice": "chem", "bob": "phys", "carla": "chem", "dora": "chem", "emil": "geo"}
ACCESS: Final = """
operators = ["olga"]
admins = ["root"]
[leads]
chem = ["carla"]
[proxy]
secret_file = "proxy.secret"
"""
_START: Final = dt.datetime(2024, 4, 1, 1, tzinfo=dt.UTC)


def log_of(user: str, number: int = 0) -> str:
    """The id of a user's log."""
    return f"{USERS.index(user) * 16 + number:016x}"


# Named by its path as alice's, and written by mallory.
DOUBTED: Final = f"{0xDD:016x}"


def make_site(root: Path) -> Path:
    """A warehouse with two logs of each user, each with something that only its owner may know."""
    logs = [_log(user, number) for user in USERS for number in (0, 1)]
    doubted = {**_log("alice", 9), "log_id": DOUBTED, "path": "/logs/mallory's", "app": "app-of-mallory"}
    at: dict[str, Any] = {"cluster": "blue", "night": NIGHT}
    tables: dict[str, Sequence[Mapping[str, Any]]] = {
        "log": [*logs, doubted],
        "owner_doubt": [{**at, "log_id": DOUBTED, "reason": "the file is mallory's"}],
        "job": [_job(log) for log in logs],
        "verdict": [_verdict(log) for log in logs],
        "file_name": [
            {**at, "log_id": log["log_id"], "file_id": 7, "path": f"/scratch/{log['user']}/secret", "mount": "/scratch"}
            for log in logs
        ],
        "posix_file": [{**at, "log_id": log["log_id"], "file_id": 7, "rank": 0, "write_bytes": 10} for log in logs],
        "ost_io": [_ost_io(log) for log in logs],
        "segment": [_segment(log) for log in logs],
        "log_weather_profile": [_state(log) for log in logs],
        "server_slot": [_slot(log) for log in logs],
        "link_hour": [
            {**at, "begin_at": _START, "link_id": "l", "guid": "g", "port": 1, "user": "bob", "job_id": "job-of-bob-0"}
        ],
        "reject": [{"path": "/logs/file-of-bob", "stage": "read", "reason": "It is cut short.", "at": _START, "is_final": True}],
        "sweep": [{"sweep_id": "s", "cluster": "blue", "paths": ["/logs/home-of-bob"], "start_at": _START, "end_at": _START}],
        "mail": [_mail(user) for user in USERS],
    }
    files = {name: _written(root / "lake" / name, name, rows) for name, rows in tables.items()}
    reference = {"triggers": reference_table()}
    build_catalog(root / "iomine.duckdb", files, reference, {})
    for name in ("app_night", "finding_night", "mount_night", "layer_night"):
        columns = ", ".join(f'"{column}"' for column in arrow_schema(name, with_partition_keys=True).names)
        files[name] = _written(
            root / "lake" / name, name, ask(root / "iomine.duckdb", f"SELECT {columns} FROM feature.{name}").to_pylist()
        )
    build_catalog(root / "iomine.duckdb", files, reference, {})
    # What a sweep wrote of alice's log names her neighbour.
    (root / "reports").mkdir()
    (root / "reports" / f"{log_of('alice')}.html").write_text("The neighbour of alice is bob.", encoding="utf-8")
    (root / "proxy.secret").write_text(SECRET, encoding="utf-8")
    (root / "proxy.secret").chmod(0o600)
    (root / "access.toml").write_text(ACCESS, encoding="utf-8")
    return root


def _written(folder: Path, name: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    folder = folder / f"cluster=blue/night={NIGHT}" if TABLES[name].partitioned else folder
    folder.mkdir(parents=True)
    columns = [{column: row.get(column) for column in TABLES[name].columns} for row in rows]
    pq.write_table(pa.Table.from_pylist(columns, schema=arrow_schema(name)), folder / "part-0.parquet")
    return [str(folder / "part-0.parquet")]


def _log(user: str, number: int) -> dict[str, Any]:
    return {
        "log_id": log_of(user, number), "cluster": "blue", "night": NIGHT, "job_id": f"job-of-{user}-{number}",
        "uid": 5000 + USERS.index(user), "user": user, "exe": f"/bin/app-of-{user}", "app": f"app-of-{user}",
        "application": f"app-of-{user}", "nprocs": 4, "start_at": _START, "end_at": _START + dt.timedelta(hours=1),
        "run_seconds": 3600.0, "format_version": "3.41", "darshan_version": "3.4.4", "is_partial": False,
        "read_bytes": 10, "write_bytes": 10, "read_count": 10, "write_count": 10, "io_core_seconds": 100.0,
        "path": f"/logs/{user}", "size_bytes": 1000, "lineage_id": f"lineage-{user}", "io_signature": "writes",
    }  # fmt: skip


def _job(log: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("cluster", "night", "job_id", "user", "uid", "start_at", "end_at", "run_seconds")
    return {name: log[name] for name in kept} | {
        "node_count": 1, "job_state": "COMPLETED", "account": ACCOUNTS[log["user"]], "job_name": f"name-of-{log['user']}",
        "scheduler": "slurm", "hosts": [f"host-of-{log['user']}"],
    }  # fmt: skip


def _verdict(log: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "log_id": log["log_id"], "cluster": "blue", "night": NIGHT, "code": "POSIX-101", "state": "fired", "ruleset": "iomine",
        "level": "high", "value": 0.5, "bar": 0.1, "trigger_version": "1", "evidence": "bins", "finding": f"of-{log['user']}",
        "advice": "Write more.", "cost_core_seconds": 50.0, "charged_core_seconds": 50.0,
    }  # fmt: skip


def _ost_io(log: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "log_id": log["log_id"], "cluster": "blue", "night": NIGHT, "layer": "posix", "ost_id": 1, "op": "write",
        "moved_bytes": 10, "request_count": 1, "evidence": "trace",
    }  # fmt: skip


def _segment(log: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "log_id": log["log_id"], "cluster": "blue", "night": NIGHT, "layer": "posix", "file_id": 7, "rank": 0, "op": "write",
        "host": f"host-of-{log['user']}", "offset_bytes": 0, "length_bytes": 10, "start_seconds": 1.0, "end_seconds": 2.0,
    }  # fmt: skip


def _state(log: Mapping[str, Any]) -> dict[str, Any]:
    """Bob kept the servers busy that all others waited for."""
    return {
        "log_id": log["log_id"], "cluster": "blue", "night": NIGHT, "is_complete": True, "server_verdict": "neighbour",
        "server_rule": "The servers were slow.", "neighbour": "bob", "neighbour_job_id": "job-of-bob-0", "neighbour_ratio": 0.9,
        "weather_slowdown_ratio": 3.0,
    }  # fmt: skip


def _slot(log: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "cluster": "blue", "night": NIGHT, "begin_at": _START, "target": "OST0001", "target_kind": "ost", "owner": log["job_id"],
        "job_id": log["job_id"], "user": log["user"], "rpc_count": 10, "moved_bytes": 10, "service_seconds": 30.0,
        "usual_service_seconds": 10.0,
    }  # fmt: skip


def _mail(user: str) -> dict[str, Any]:
    return {
        "message_id": f"mail-to-{user}", "mail_kind": "user", "recipient": user, "mail_state": "sent", "cluster": "blue",
        "user": user, "application": f"app-of-{user}", "code": "POSIX-101", "last_night": NIGHT, "composed_at": _START,
        "mail_part": "findings", "told_night": NIGHT,
    }  # fmt: skip


@contextmanager
def guarded(root: Path) -> Iterator[str]:
    """A server in a thread that knows the site's users, for as long as the context lasts; gives its address."""
    access = site_access(root)
    doorkeeper = access and doorkeeper_of(access, root)
    with bind("127.0.0.1", 0) as listening:
        server = uvicorn.Server(config_of(make_app(root, LOOPBACK, LIMITS, doorkeeper)))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        yield address_of(listening)
        server.should_exit = True
        thread.join(30)


def ask_as(address: str, user: str | None, path: str, method: str = "GET") -> Reply:
    """What somebody is answered whom the proxy names; nobody, where it names none."""
    named = {} if user is None else {"X-Iomine-User": user, "X-Iomine-Secret": SECRET}
    return ask_server(address, path, method, **named)


def noted(root: Path) -> list[dict[str, Any]]:
    """Lines of the access log."""
    return [json.loads(line) for line in (root / "access.jsonl").read_text(encoding="utf-8").splitlines()]
