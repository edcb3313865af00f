"""A centre's own list of jobs: lines of job, user, start, end and nodes, below a line that names these."""

from collections.abc import Mapping
from typing import Final

from iomine.sources.accounting.ledger import Ledger
from iomine.sources.accounting.lines import head_of, numbered
from iomine.sources.model import Input, Readings, Source

_HEAD: Final = "job;user;start;end;nodes"
_COLUMNS: Final = ("job_id", "user", "start_at", "end_at", "node_list")


def _knows(source: Input) -> bool:
    return head_of(source.data).partition("\n")[0].rstrip() == _HEAD


def _read(source: Input) -> Readings:
    ledger = Ledger(source, "example_job_list")
    ledger.add_each(((number, line) for number, line in numbered(source.data) if line != _HEAD), _job)
    return ledger.readings()


def _job(line: str) -> Mapping[str, str | None]:
    fields = line.split(";")
    if len(fields) != len(_COLUMNS):
        raise ValueError(f"it has {len(fields)} fields instead of {len(_COLUMNS)}")
    return dict(zip(_COLUMNS, fields, strict=True))


JOB_LIST: Final = Source("example_job_list", _knows, _read)
