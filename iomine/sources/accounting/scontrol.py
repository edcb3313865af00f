"""What `scontrol show job` prints, of one job or many, on many lines or with `-o` on one: `Key=Value`, apart by blanks.

Texts that users make up end a line, and nothing in them is taken for a key. With `-o` they do not, so that a name may hold
what looks like a key: what is told twice, and not alike, is then not told.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from iomine.sources.accounting.ledger import Ledger
from iomine.sources.accounting.lines import batches, head_of
from iomine.sources.model import Input, Readings, Source

_BEGINNING: Final = re.compile(r"^\s*JobId=\d+ ", re.MULTILINE | re.ASCII)
_KEY: Final = re.compile(r"(?:^|\s)\s*([A-Za-z][\w/:.]*)=", re.ASCII)
_FREE: Final = re.compile(r"\s*(Command|WorkDir|StdErr|StdIn|StdOut|Comment|AdminComment|SystemComment|Extra)=")
_USER: Final = re.compile(r"(.*)\((\d{1,10})\)", re.ASCII)
_ID: Final = re.compile(r"[1-9]\d{0,18}", re.ASCII)

_Told = Mapping[str, str | None]


def _knows(source: Input) -> bool:
    return _BEGINNING.search(head_of(source.data)) is not None


def _read(source: Input) -> Readings:
    ledger = Ledger(source, "slurm")
    ledger.add_each(_blocks(source.data), _job)
    return ledger.readings()


def _blocks(data: bytes) -> Iterator[tuple[int, Sequence[str]]]:
    """Lines of each job, with the number of the first."""
    number, block = 1, list[str]()
    for first, lines in batches(data):
        for here, line in enumerate(lines, first):
            if _BEGINNING.match(line) and block:
                yield number, block
                block = []
            if line.strip():
                number = number if block else here
                block.append(line)
    if block:
        yield number, block


def _job(block: Sequence[str]) -> Mapping[str, str | None]:
    told = _told(block)
    job_id = told.get("JobId") or ""
    if not _ID.fullmatch(job_id):
        raise ValueError("it is no part of a job")
    user = _USER.fullmatch(told.get("UserId") or "")
    return {
        "job_id": job_id,
        "shown_job_id": _shown(told) or job_id,
        "job_name": told.get("JobName"),
        "user": user and user[1],
        "uid": user and user[2],
        "account": told.get("Account"),
        "partition": told.get("Partition"),
        "qos": told.get("QOS"),
        "job_state": told.get("JobState"),
        "exit_code": told.get("ExitCode"),
        "submit_at": told.get("SubmitTime"),
        "start_at": told.get("StartTime"),
        "end_at": told.get("EndTime"),
        "run_seconds": told.get("RunTime"),
        "limit_seconds": told.get("TimeLimit"),
        "node_count": _node_count(told.get("NumNodes") or ""),
        "core_count": told.get("NumCPUs"),
        "tres": told.get("AllocTRES", told.get("TRES")),
        "node_list": told.get("NodeList"),
    }


def _told(block: Sequence[str]) -> _Told:
    """Values by key; None where there are several."""
    told: dict[str, str | None] = {}
    for key, value in _pairs(block):
        told[key] = value if told.get(key, value) == value else None
    return told


def _pairs(block: Sequence[str]) -> Iterator[tuple[str, str]]:
    ids, is_named, name = block[0].partition(" JobName=")
    yield from _keys(ids)
    if is_named and len(block) == 1:
        name, _, rest = name.partition(" UserId=")
        yield from _keys(f"UserId={rest}")
    if is_named:
        yield "JobName", name
    for line in block[1:]:
        free = _FREE.match(line)
        yield from [(free[1], line[free.end() :])] if free else _keys(line)


def _keys(line: str) -> Iterator[tuple[str, str]]:
    _, *found = _KEY.split(line)
    yield from ((key, value.strip()) for key, value in zip(found[::2], found[1::2], strict=True))


def _node_count(text: str) -> str | None:
    """A pending job may ask for a range of nodes."""
    least, _, most = text.partition("-")
    return least if most in ("", least) else None


def _shown(told: _Told) -> str | None:
    array, tasks = told.get("ArrayJobId"), told.get("ArrayTaskId") or ""
    if array:
        return f"{array}_{tasks}" if tasks.isdecimal() else f"{array}_[{tasks}]"
    leader = told.get("HetJobId", told.get("PackJobId"))
    return leader and f"{leader}+{told.get('HetJobOffset', told.get('PackJobOffset')) or 0}"


SCONTROL: Final = Source("scontrol", _knows, _read)
