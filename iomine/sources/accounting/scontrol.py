"""What `scontrol show job` prints, on many lines or with `-o` on one, and what jobcomp/filetxt keeps: `Key=Value`.

Values are not quoted, and names may hold blanks, line feeds and what looks like a key. A name ends at the key that Slurm
writes next. If that key occurs more than once, the name may have forged it, and keys with two different values are NULL.
Other texts from users come after all that is read here, so the first of two is the true one.
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
# The keys that follow a name, first if they are on a line of their own; the last of the keys is always there.
_AFTER: Final = {
    "JobName": (r"\n\s*(?:HetJobIdSet|UserId)=", r"\s(?:HetJobIdSet|UserId)="),
    "Name": (r"\sJobState=",),
}
_ALWAYS_AFTER: Final = {"JobName": "UserId", "Name": "JobState"}
_HAS_USER: Final = re.compile(r"(?:^|\s)UserId=")
# On a line of its own, the rest of the line after these keys is the user's text.
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
            # A name may go on with what looks like another job, but not after the user's key.
            if block and may_end and _BEGINNING.match(line):
                yield number, block
                block = []
            if line.strip() and not block:
                number, may_end = here, not _BEGINNING.match(line)
            if line.strip():
                block.append(line)
            may_end = may_end or not line.strip() or _HAS_USER.search(line) is not None
    if block:
        yield number, block


def _job(block: Sequence[str]) -> Mapping[str, str | None]:
    if not _BEGINNING.match(block[0]):
        raise ValueError("it does not begin with JobId")
    values, doubt = _values("\n".join(block))
    user = _USER.fullmatch(values.get("UserId") or "")
    return {
        "job_id": values["JobId"],
        "shown_job_id": _shown(values),
        "job_name": values.get("JobName", values.get("Name")),
        "user": user and user[1],
        "uid": user and user[2],
        "account": values.get("Account"),
        "partition": values.get("Partition"),
        "qos": values.get("QOS"),
        "job_state": values.get("JobState"),
        "exit_code": values.get("ExitCode"),
        "submit_at": values.get("SubmitTime"),
        "start_at": values.get("StartTime"),
        "end_at": values.get("EndTime"),
        "run_seconds": values.get("RunTime"),
        # Without colons, as jobcomp/filetxt writes it, it is in minutes.
        "limit_seconds": minutes(values.get("TimeLimit") or ""),
        "node_count": _node_count(values.get("NumNodes", values.get("NodeCnt")) or ""),
        "core_count": values.get("NumCPUs", values.get("ProcCnt")),
        "tres": _allocated(values),
        "node_list": values.get("NodeList"),
        "doubt": doubt,
    }


def _values(text: str) -> tuple[Mapping[str, str | None], str]:
    """Values by key, and what is doubtful of them."""
    named = _NAME.search(text)
    key = named[1] if named else "JobName"
    ids, name = (text[: named.start()], text[named.end() :]) if named else (text, "")
    after = next((found for pattern in _AFTER[key] if (found := re.search(pattern, name))), None)
    pairs = list(_pairs(name[after.start() :])) if after else []
    is_forged = sum(each == _ALWAYS_AFTER[key] for each, _ in pairs) > 1
    values: dict[str, str | None] = {}
    for each, value in pairs:
        values[each] = None if is_forged and values.get(each, value) != value else values.get(each, value)
    doubt = "its name may hold keys, and keys with two different values are left out" if is_forged else ""
    return values | {key: name[: after.start()] if after else name} | dict(_pairs(ids)), doubt


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in text.split("\n"):
        if not _FREE.match(line):
            _, *found = _KEY.split(line)
            yield from zip(found[::2], map(str.strip, found[1::2]), strict=True)


def _node_count(text: str) -> str | None:
    """A pending job may ask for a range of nodes."""
    least, _, most = text.partition("-")
    return least if most in ("", least) else None


def _allocated(values: Mapping[str, str | None]) -> str | None:
    """Before Slurm 23.02, resources are those that are allocated, but of a pending job those that are asked for."""
    old = None if values.get("JobState") == _PENDING else values.get("TRES", values.get("Tres"))
    return values.get("AllocTRES", old)


def _shown(values: Mapping[str, str | None]) -> str | None:
    array, tasks = values.get("ArrayJobId"), values.get("ArrayTaskId") or ""
    if array:
        return f"{array}_{tasks}" if tasks.isdecimal() else f"{array}_[{tasks}]"
    leader = values.get("HetJobId", values.get("PackJobId"))
    return f"{leader}+{values.get('HetJobOffset', values.get('PackJobOffset')) or 0}" if leader else values["JobId"]


SCONTROL: Final = Source("scontrol", _knows, _read)
