"""Accounting of Grid Engine (SGE, UGE, Altair): a line for each job, of fields with `:` between them.

A job that runs on several hosts is accounted on the first of them. Where its tasks are accounted one by one, the line of
the whole job, which comes last, has no task id.
"""

import re
from collections.abc import Mapping
from typing import Final

from iomine.sources.accounting.ledger import Ledger
from iomine.sources.accounting.lines import head_of, numbered
from iomine.sources.model import Input, Readings, Source

_FIELDS: Final = (
    "queue host group owner name number account priority submitted started ended failed exit_status wallclock utime stime "
    "maxrss ixrss ismrss idrss isrss minflt majflt nswap inblock oublock msgsnd msgrcv nsignals nvcsw nivcsw project "
    "department granted_pe slots task_number cpu mem io category iow pe_taskid".split()
)
_SHAPE: Final = re.compile(r"^(?:[^:\n]*:){5}[1-9]\d{0,18}:[^:\n]*:-?\d+:\d+:\d+:\d+:\d+:\d+:", re.MULTILINE | re.ASCII)
_MILLISECONDS: Final = re.compile(r"(\d{9,10})(\d{3})", re.ASCII)
_LIMIT: Final = re.compile(r"\bh_rt=(\d{1,12})(?![\d:])", re.ASCII)
_NONE: Final = "NONE"


def _knows(source: Input) -> bool:
    return _SHAPE.search(head_of(source.data)) is not None


def _read(source: Input) -> Readings:
    ledger = Ledger(source, "uge", nodes=lambda host: [host] if host else [])
    ledger.add_each(numbered(source.data), _job)
    return ledger.readings()


def _job(line: str) -> Mapping[str, str | None] | None:
    if not _SHAPE.match(line):
        raise ValueError("it is no accounting record")
    told = dict(zip(_FIELDS, line.split(":"), strict=False))
    if len(told) <= _FIELDS.index("category"):
        raise ValueError(f"it has {len(told)} fields")
    if told.get("pe_taskid", _NONE) != _NONE:
        return None
    is_alone = told["granted_pe"] == _NONE or told["slots"] == "1"
    task, limit = told["task_number"], _LIMIT.search(told["category"])
    is_fine = told["failed"] == told["exit_status"] == "0"
    return {
        "job_id": told["number"],
        "shown_job_id": told["number"] if task == "0" else f"{told['number']}.{task}",
        "job_name": told["name"],
        "user": told["owner"],
        "account": told["account"] if told["project"] == _NONE else told["project"],
        "partition": told["queue"],
        "job_state": "COMPLETED" if is_fine else "FAILED",
        "exit_code": told["exit_status"],
        "submit_at": _in_seconds(told["submitted"]),
        "start_at": _in_seconds(told["started"]),
        "end_at": _in_seconds(told["ended"]),
        "run_seconds": told["wallclock"],
        "limit_seconds": limit and limit[1],
        "node_count": "1" if is_alone else None,
        "core_count": told["slots"],
        "node_list": told["host"] if is_alone else None,
    }


def _in_seconds(text: str) -> str:
    """Some releases count milliseconds."""
    return f"{match[1]}.{match[2]}" if (match := _MILLISECONDS.fullmatch(text)) else text


UGE: Final = Source("uge", _knows, _read)
