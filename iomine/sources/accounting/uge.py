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
    fields = dict(zip(_FIELDS, line.split(":"), strict=False))
    if len(fields) <= _FIELDS.index("category"):
        raise ValueError(f"it has {len(fields)} fields")
    if fields.get("pe_taskid", _NONE) != _NONE:
        return None
    is_alone = fields["granted_pe"] == _NONE or fields["slots"] == "1"
    task, limit = fields["task_number"], _LIMIT.search(fields["category"])
    is_fine = fields["failed"] == fields["exit_status"] == "0"
    return {
        "job_id": fields["number"],
        "shown_job_id": fields["number"] if task == "0" else f"{fields['number']}.{task}",
        "job_name": fields["name"],
        "user": fields["owner"],
        "account": fields["account"] if fields["project"] == _NONE else fields["project"],
        "partition": fields["queue"],
        "job_state": "COMPLETED" if is_fine else "FAILED",
        "exit_code": fields["exit_status"],
        "submit_at": _in_seconds(fields["submitted"]),
        "start_at": _in_seconds(fields["started"]),
        "end_at": _in_seconds(fields["ended"]),
        "run_seconds": fields["wallclock"],
        "limit_seconds": limit and limit[1],
        "node_count": "1" if is_alone else None,
        "core_count": fields["slots"],
        "node_list": fields["host"] if is_alone else None,
    }


def _in_seconds(text: str) -> str:
    """Some releases count milliseconds."""
    return f"{match[1]}.{match[2]}" if (match := _MILLISECONDS.fullmatch(text)) else text


UGE: Final = Source("uge", _knows, _read)
