"""LSF's `lsb.acct`: fields apart by blanks, texts in double quotes, of which those within are doubled.

Positions are those of IBM's reference of the file; what comes after the resource usage is missing in some releases.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from iomine.sources.accounting.hosts import Names
from iomine.sources.accounting.ledger import Ledger
from iomine.sources.accounting.lines import head_of, numbered
from iomine.sources.model import Input, Readings, Source

_SHAPE: Final = re.compile(r'^"[A-Z_]{1,64}" "[\d.]{1,16}" \d+ ', re.MULTILINE | re.ASCII)
_FIELD: Final = re.compile(r'"((?:[^"]|"")*+)"|(\S+)')
_ID: Final = re.compile(r"[1-9]\d{0,18}", re.ASCII)
_LENGTH: Final = re.compile(r"\d{1,7}", re.ASCII)
# Fields before the lists of hosts.
_END, _JOB_ID, _UID, _SUBMIT, _START, _USER, _QUEUE, _ASKED_HOSTS = 2, 3, 4, 7, 10, 11, 12, 22
# Fields after them: status, name, project, exit status, index in an array, why it was ended.
_AFTER_HOSTS: Final = (0, 2, 24, 25, 29, 38)
_NAME: Final = 2
_EXITED, _DONE = 32, 64
# Why LSF ended a job: its limit of time, of memory, or because its owner or an administrator said so.
_STATES: Final = {"5": "TIMEOUT", "16": "OUT_OF_MEMORY"} | dict.fromkeys(("8", "9", "14", "15"), "CANCELLED")


def _knows(source: Input) -> bool:
    return _SHAPE.search(head_of(source.data)) is not None


def _read(source: Input) -> Readings:
    ledger = Ledger(source, "lsf", nodes=_hosts)
    ledger.add_each(numbered(source.data), _job)
    return ledger.readings()


def _job(line: str) -> Mapping[str, str | None] | None:
    if not _SHAPE.match(line):
        raise ValueError("it is no accounting record")
    if not line.startswith('"JOB_FINISH"'):
        return None
    if line.count('"') % 2:
        raise ValueError("it is incomplete")
    fields = [plain or quoted.replace('""', '"') for quoted, plain in _FIELD.findall(line)]
    _, after = _counted(fields[_ASKED_HOSTS:])
    hosts, rest = _counted(after)
    if not _ID.fullmatch(fields[_JOB_ID]) or len(rest) <= _NAME:
        raise ValueError("it is incomplete")
    status, name, project, exit_status, index, exit_info = (rest[at] if at < len(rest) else None for at in _AFTER_HOSTS)
    job_id = fields[_JOB_ID]
    return {
        "job_id": job_id,
        "shown_job_id": job_id if index in (None, "0") else f"{job_id}[{index}]",
        "job_name": name,
        "user": fields[_USER],
        "uid": fields[_UID],
        "account": project,
        "partition": fields[_QUEUE],
        "job_state": _state(status or "", exit_info or ""),
        "exit_code": exit_status,
        "submit_at": fields[_SUBMIT],
        "start_at": fields[_START],
        "end_at": fields[_END],
        "node_count": str(len(_hosts(" ".join(hosts)))),
        "core_count": str(sum(_slots(host) for host in hosts)),
        "node_list": " ".join(hosts),
    }


def _counted(fields: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """A list that its length stands before, and what comes after it."""
    if not fields or not _LENGTH.fullmatch(fields[0]) or (end := int(fields[0]) + 1) > len(fields):
        raise ValueError("it is incomplete")
    return fields[1:end], fields[end:]


def _state(status: str, exit_info: str) -> str | None:
    bits = int(status) if _LENGTH.fullmatch(status) else 0
    if bits & _DONE:
        return "COMPLETED"
    return _STATES.get(exit_info, "FAILED") if bits & _EXITED else None


def _slots(host: str) -> int:
    slots, star, _ = host.partition("*")
    return int(slots) if star and _LENGTH.fullmatch(slots) else 1


def _hosts(node_list: str) -> Names:
    """Names in `16*host1 16*host2`, or in a list that names a host once for each slot."""
    return dict.fromkeys(each.rpartition("*")[2] for each in node_list.split())


LSF: Final = Source("lsf", _knows, _read)
