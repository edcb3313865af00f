"""Accounting logs of PBS, Torque and PBS Pro alike: `MM/DD/YYYY HH:MM:SS;E;<job>;key=value ...` for each job that ends.

Other records, of jobs that are queued, start, are deleted and so on, have nothing that the one of the end lacks.
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
_ARRAY: Final = re.compile(r"\d+\[\]", re.ASCII)
_BETWEEN: Final = re.compile(r" (?=[A-Za-z_][\w.]*=)", re.ASCII)
_SLOTS: Final = re.compile(r"(?:^|,)(\d{1,9})(?:-(\d{1,9})|\*(\d{1,9}))?(?=,|$)", re.ASCII)
_DEFAULT_PROJECT: Final = "_pbs_project_default"
# Exit codes by which PBS Pro says that it killed a job; others than 0 may be the program's own or a signal.
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
    # An array ends with a record of its own, beside those of its jobs: it would count their nodes again, from the first start on.
    if kind != "E" or _ARRAY.match(job):
        return None
    job_id = _ID.match(job)
    if not job_id:
        raise ValueError("it has no job id")
    values = _values(message)
    exec_host, exit_status, project = (values.get(key) for key in ("exec_host", "Exit_status", "project"))
    return {
        # A log carries the number that the id begins with.
        "job_id": job_id[0],
        "shown_job_id": job,
        "job_name": values.get("jobname"),
        "user": values.get("user"),
        "account": values.get("account", None if project == _DEFAULT_PROJECT else project),
        "partition": values.get("queue"),
        "job_state": exit_status and _STATES.get(exit_status, "FAILED"),
        "exit_code": exit_status,
        "submit_at": values.get("ctime", values.get("qtime")),
        "start_at": values.get("start"),
        "end_at": values.get("end", f"{year}-{month}-{day}T{time}"),
        "run_seconds": values.get("resources_used.walltime"),
        "limit_seconds": values.get("Resource_List.walltime"),
        "node_count": values.get("Resource_List.nodect") if exec_host is None else str(len(_hosts(exec_host))),
        "core_count": _core_count(values),
        "gpu_count": _gpu_count(values),
        "node_list": exec_host,
    }


def _values(message: str) -> Mapping[str, str]:
    """Values by key; a key before the job's name cannot be overwritten by one within the name."""
    before, named, after = message.partition(" jobname=")
    pairs = [[entry.partition("=") for entry in _BETWEEN.split(part)] for part in (named.lstrip() + after, before)]
    return {key: value.strip('"') for part in pairs for key, equals, value in part if equals}


def _hosts(exec_host: str) -> Names:
    """Names in `n1/0+n1/1`, `n404/2-5` or `c1/0*13+c2/0*13`."""
    return dict.fromkeys(name for each in exec_host.split("+") if (name := each.partition("/")[0]))


def _core_count(values: Mapping[str, str]) -> str | None:
    """Cores that were given: of each virtual node, otherwise of each host, otherwise as they were asked for."""
    given = _sum(values, "exec_vnode", "ncpus") or sum(
        _slots(each.partition("/")[2]) for each in values.get("exec_host", "").split("+")
    )
    return str(given) if given else _asked(values, "ppn") or values.get("resources_used.ncpus", values.get("Resource_List.ncpus"))


def _gpu_count(values: Mapping[str, str]) -> str | None:
    """GPUs that were given, otherwise as they were asked for under one of the names that sites have for them."""
    given = _sum(values, "exec_vnode", "ngpus") or len(list(filter(None, values.get("exec_gpus", "").split("+"))))
    if given:
        return str(given)
    names = [f"Resource_List.{name}" for name in ("ngpus", "gpus", "gpu")]
    return next((values[name] for name in names if name in values), _asked(values, "gpus"))


def _sum(values: Mapping[str, str], key: str, resource: str) -> int:
    return sum(map(int, re.findall(rf"[:(]{resource}=(\d{{1,9}})(?!\d)", values.get(key, ""))))


def _slots(text: str) -> int:
    """Slots of one host: `0`, `2-5`, `0,2`, and in PBS Pro `0*13`, of thirteen cores."""
    ranges = [match.groups() for match in _SLOTS.finditer(text)]
    return sum(int(cores) if cores else int(last or first) - int(first) + 1 for first, last, cores in ranges)


def _asked(values: Mapping[str, str], resource: str) -> str | None:
    """Of a resource in Torque's `nodes=2:ppn=28:gpus=1+4:ppn=8`, where each part is so many nodes, or one that is named."""
    found = 0
    for part in values.get("Resource_List.nodes", "").split("+"):
        each = re.search(rf":{resource}=(\d{{1,9}})(?!\d)", part)
        nodes = re.match(r"(\d{1,9})(?::|$)", part)
        found += int(each[1]) * (int(nodes[1]) if nodes else 1) if each else 0
    return str(found) if found else None


PBS: Final = Source("pbs", _knows, _read)
