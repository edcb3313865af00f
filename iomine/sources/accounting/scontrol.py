"""What `scontrol show job` prints, on many lines or with `-o` on one, and what jobcomp/filetxt keeps: `Key=Value`.

Values are not quoted, and names may hold blanks, line feeds and what looks like a key. A name goes on until the key that
Slurm writes next. Where that is told more than once, a name may have forged it: what is told twice and not alike is then
not told. Other texts that users make up come after all that is read here, so the first of two is the true one.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from iomine.sources.accounting.ledger import Ledger
from iomine.sources.accounting.lines import batches, head_of
from iomine.sources.accounting.words import minutes
from iomine.sources.model import Input, Readings, Source

_BEGINNING: Final = re.compile(r"^[ \t]*JobId=[1-9]\d{0,18}(?:[ \t]|$)", re.MULTILINE | re.ASCII)
_KEY: Final = re.compile(r"(?:^|\s)([A-Za-z][\w/:.]*)=", re.ASCII)
_NAME: Final = re.compile(r"\s(JobName|Name)=")
# What comes behind a name, if it can be on a line of its own, and otherwise; the last of the keys is always there.
_AFTER: Final = {
    "JobName": (r"\n\s*(?:HetJobIdSet|UserId)=", r"\s(?:HetJobIdSet|UserId)="),
    "Name": (r"\sJobState=",),
}
_ALWAYS_AFTER: Final = {"JobName": "UserId", "Name": "JobState"}
_TELLS_USER: Final = re.compile(r"(?:^|\s)UserId=")
# On a line of its own, what stands behind these is the user's up to the end.
_FREE: Final = re.compile(r"\s*(?:Command|WorkDir|StdErr|StdIn|StdOut|Comment|AdminComment|SystemComment|Extra)=")
_USER: Final = re.compile(r"(.*)\((\d{1,10})\)", re.ASCII | re.DOTALL)
_PENDING: Final = "PENDING"


def _knows(source: Input) -> bool:
    return _BEGINNING.search(head_of(source.data)) is not None


def _read(source: Input) -> Readings:
    ledger = Ledger(source, "slurm")
    ledger.add_each(_blocks(source.data), _job)
    return ledger.readings()


def _blocks(data: bytes) -> Iterator[tuple[int, Sequence[str]]]:
    """Lines of each job, with the number of the first."""
    number, block, may_end = 1, list[str](), False
    for first, lines in batches(data):
        for here, line in enumerate(lines, first):
            # A name may go on with what looks like another job, but not once its user is told.
            if block and may_end and _BEGINNING.match(line):
                yield number, block
                block = []
            if line.strip() and not block:
                number, may_end = here, not _BEGINNING.match(line)
            if line.strip():
                block.append(line)
            may_end = may_end or not line.strip() or _TELLS_USER.search(line) is not None
    if block:
        yield number, block


def _job(block: Sequence[str]) -> Mapping[str, str | None]:
    if not _BEGINNING.match(block[0]):
        raise ValueError("it is no part of a job")
    told, doubt = _told("\n".join(block))
    user = _USER.fullmatch(told.get("UserId") or "")
    return {
        "job_id": told["JobId"],
        "shown_job_id": _shown(told),
        "job_name": told.get("JobName", told.get("Name")),
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
        # Without colons, as jobcomp/filetxt writes it, it is in minutes.
        "limit_seconds": minutes(told.get("TimeLimit") or ""),
        "node_count": _node_count(told.get("NumNodes", told.get("NodeCnt")) or ""),
        "core_count": told.get("NumCPUs", told.get("ProcCnt")),
        "tres": _allocated(told),
        "node_list": told.get("NodeList"),
        "doubt": doubt,
    }


def _told(text: str) -> tuple[Mapping[str, str | None], str]:
    """Values by key, and what is doubtful of them."""
    named = _NAME.search(text)
    key = named[1] if named else "JobName"
    ids, name = (text[: named.start()], text[named.end() :]) if named else (text, "")
    after = next((found for pattern in _AFTER[key] if (found := re.search(pattern, name))), None)
    pairs = list(_pairs(name[after.start() :])) if after else []
    is_forged = sum(each == _ALWAYS_AFTER[key] for each, _ in pairs) > 1
    told: dict[str, str | None] = {}
    for each, value in pairs:
        told[each] = None if is_forged and told.get(each, value) != value else told.get(each, value)
    doubt = "its name may hold keys, and what is told twice and not alike is not told" if is_forged else ""
    return told | {key: name[: after.start()] if after else name} | dict(_pairs(ids)), doubt


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in text.split("\n"):
        if not _FREE.match(line):
            _, *found = _KEY.split(line)
            yield from zip(found[::2], map(str.strip, found[1::2]), strict=True)


def _node_count(text: str) -> str | None:
    """A pending job may ask for a range of nodes."""
    least, _, most = text.partition("-")
    return least if most in ("", least) else None


def _allocated(told: Mapping[str, str | None]) -> str | None:
    """Before Slurm 23.02, resources are those that are allocated, but of a pending job those that are asked for."""
    old = None if told.get("JobState") == _PENDING else told.get("TRES", told.get("Tres"))
    return told.get("AllocTRES", old)


def _shown(told: Mapping[str, str | None]) -> str | None:
    array, tasks = told.get("ArrayJobId"), told.get("ArrayTaskId") or ""
    if array:
        return f"{array}_{tasks}" if tasks.isdecimal() else f"{array}_[{tasks}]"
    leader = told.get("HetJobId", told.get("PackJobId"))
    return f"{leader}+{told.get('HetJobOffset', told.get('PackJobOffset')) or 0}" if leader else told["JobId"]


SCONTROL: Final = Source("scontrol", _knows, _read)
