"""Accounting logs of PBS, Torque and PBS Pro alike: `MM/DD/YYYY HH:MM:SS;E;<job>;key=value ...` for each job that ends.

Other records, of jobs that are queued, start, are deleted and so on, tell nothing that the one of the end does not.
"""

import re
from collections.abc import Mapping
from typing import Final

from iomine.sources.accounting.hosts import Names
from iomine.sources.accounting.ledger import Ledger
from iomine.sources.accounting.lines import head_of, numbered
from iomine.sources.model import Input, Readings, Source

_STAMP: Final = r"(\d\d)/(\d\d)/(\d{4}) (\d\d:\d\d:\d\d);"
_SHAPE: Final = re.compile(rf"^{_STAMP}[A-Za-z]{{1,2}};[^;\n]*;", re.MULTILINE | re.ASCII)
_RECORD: Final = re.compile(rf"{_STAMP}([A-Za-z]{{1,2}});([^;]*);(.*)", re.DOTALL | re.ASCII)
_ID: Final = re.compile(r"\d{1,19}(?!\d)", re.ASCII)
_BETWEEN: Final = re.compile(r" (?=[A-Za-z_][\w.]*=)", re.ASCII)
_SLOTS: Final = re.compile(r"(?:^|,)(\d{1,9})(?:-(\d{1,9})|\*(\d{1,9}))?(?=,|$)", re.ASCII)
_DEFAULT_PROJECT: Final = "_pbs_project_default"
# How PBS Pro tells that it killed a job; whatever else is not 0 may be the program's own doing or a signal.
_STATES: Final = {"0": "COMPLETED", "-27": "OUT_OF_MEMORY", "-29": "TIMEOUT"}


def _knows(source: Input) -> bool:
    return _SHAPE.search(head_of(source.data)) is not None


def _read(source: Input) -> Readings:
    ledger = Ledger(source, "pbs", nodes=_hosts)
    ledger.add_each(numbered(source.data), _job)
    return ledger.readings()


def _job(line: str) -> Mapping[str, str | None] | None:
    record = _RECORD.fullmatch(line)
    if not record:
        raise ValueError("it is no accounting record")
    month, day, year, time, kind, job, message = record.groups()
    if kind != "E":
        return None
    job_id = _ID.match(job)
    if not job_id:
        raise ValueError("it has no job id")
    told = _told(message)
    exec_host, exit_status, project = (told.get(key) for key in ("exec_host", "Exit_status", "project"))
    return {
        # A log carries the number that the id begins with.
        "job_id": job_id[0],
        "shown_job_id": job,
        "job_name": told.get("jobname"),
        "user": told.get("user"),
        "account": told.get("account", None if project == _DEFAULT_PROJECT else project),
        "partition": told.get("queue"),
        "job_state": exit_status and _STATES.get(exit_status, "FAILED"),
        "exit_code": exit_status,
        "submit_at": told.get("ctime", told.get("qtime")),
        "start_at": told.get("start"),
        "end_at": told.get("end", f"{year}-{month}-{day}T{time}"),
        "run_seconds": told.get("resources_used.walltime"),
        "limit_seconds": told.get("Resource_List.walltime"),
        "node_count": told.get("Resource_List.nodect") if exec_host is None else str(len(_hosts(exec_host))),
        "core_count": _core_count(told),
        "gpu_count": _gpu_count(told),
        "node_list": exec_host,
    }


def _told(message: str) -> Mapping[str, str]:
    """Values by key; what stands before the job's name cannot be told again within it."""
    before, named, after = message.partition(" jobname=")
    pairs = [[entry.partition("=") for entry in _BETWEEN.split(part)] for part in (named.lstrip() + after, before)]
    return {key: value for part in pairs for key, equals, value in part if equals}


def _hosts(exec_host: str) -> Names:
    """Names in `n1/0+n1/1`, `n404/2-5` or `c1/0*13+c2/0*13`."""
    return dict.fromkeys(name for each in exec_host.split("+") if (name := each.partition("/")[0]))


def _core_count(told: Mapping[str, str]) -> str | None:
    """Cores that were given: of each virtual node, else of each host, else as they were asked for."""
    given = _sum(told, "exec_vnode", "ncpus") or sum(
        _slots(each.partition("/")[2]) for each in told.get("exec_host", "").split("+")
    )
    return str(given) if given else _asked(told, "ppn") or told.get("resources_used.ncpus", told.get("Resource_List.ncpus"))


def _gpu_count(told: Mapping[str, str]) -> str | None:
    """GPUs that were given, else as they were asked for under one of the names that sites have for them."""
    given = _sum(told, "exec_vnode", "ngpus") or len(list(filter(None, told.get("exec_gpus", "").split("+"))))
    if given:
        return str(given)
    names = [f"Resource_List.{name}" for name in ("ngpus", "gpus", "gpu")]
    return next((told[name] for name in names if name in told), _asked(told, "gpus"))


def _sum(told: Mapping[str, str], key: str, resource: str) -> int:
    return sum(map(int, re.findall(rf"[:(]{resource}=(\d{{1,9}})(?!\d)", told.get(key, ""))))


def _slots(text: str) -> int:
    """Slots of one host: `0`, `2-5`, `0,2`, and in PBS Pro `0*13`, of thirteen cores."""
    ranges = [match.groups() for match in _SLOTS.finditer(text)]
    return sum(int(cores) if cores else int(last or first) - int(first) + 1 for first, last, cores in ranges)


def _asked(told: Mapping[str, str], resource: str) -> str | None:
    """Of a resource in Torque's `nodes=2:ppn=28:gpus=1+4:ppn=8`, where each part is so many nodes, or one that is named."""
    found = 0
    for part in told.get("Resource_List.nodes", "").split("+"):
        each = re.search(rf":{resource}=(\d{{1,9}})(?!\d)", part)
        nodes = re.match(r"(\d{1,9})(?::|$)", part)
        found += int(each[1]) * (int(nodes[1]) if nodes else 1) if each else 0
    return str(found) if found else None


PBS: Final = Source("pbs", _knows, _read)
