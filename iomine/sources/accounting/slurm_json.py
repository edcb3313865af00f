"""Slurm's JSON: `sacct --json`, `squeue --json` and what slurmrestd answers of jobs.

The controller and the accounting have names of their own for the same, and releases differ. From data_parser v0.0.39 on,
many numbers are objects that say whether they are set.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from iomine.errors import UnreadableError
from iomine.sources.accounting.ledger import Ledger
from iomine.sources.accounting.lines import head_of, text_of
from iomine.sources.accounting.words import minutes
from iomine.sources.model import Input, Readings, Source

_JOBS: Final = re.compile(r'"jobs"\s*:\s*\[')
_SLURMS: Final = re.compile(r'"job_id"|"slurm"', re.IGNORECASE)
_NO_UTF8: Final = re.compile("[\udc80-\udcff]")
_ID: Final = re.compile(r"[1-9]\d{0,18}", re.ASCII)
_STATUS: Final = re.compile(r"\d{1,9}", re.ASCII)
_SIGNAL: Final = 0x7F
_BLANKS: Final = re.compile(r"\s*")


def _knows(source: Input) -> bool:
    head = head_of(source.data).lstrip()
    return head.startswith("{") and all(shape.search(head) for shape in (_JOBS, _SLURMS))


def _read(source: Input) -> Readings:
    jobs = _jobs(source.data)
    ledger = Ledger(source, "slurm", noun="job")
    ledger.add_each(enumerate(jobs, 1), _job)
    ledger.add_each(_steps(jobs), _step, are_steps=True)
    return ledger.readings()


def _jobs(data: bytes) -> list[Any]:
    # A byte that is no UTF-8 must not cost the file: it becomes an escape in JSON's own grammar.
    text = data.decode("utf-8-sig", "surrogateescape")
    text = _NO_UTF8.sub(lambda match: rf"\\x{ord(match[0]) - 0xDC00:02x}", text)
    found: list[Any] = []
    decoder = json.JSONDecoder(strict=False)
    text = text.strip()
    # Answers may have been appended to one file.
    at = 0
    while at < len(text):
        try:
            answer, at = decoder.raw_decode(text, at)
            jobs = answer.get("jobs")
        except (ValueError, RecursionError, AttributeError) as error:
            raise UnreadableError(f"This is not the whole of Slurm's JSON: {error}.") from error
        if not isinstance(jobs, list):
            raise UnreadableError("This JSON holds no list of jobs.")
        found += jobs
        if blanks := _BLANKS.match(text, at):
            at = blanks.end()
    return found


def _job(job: Any) -> Mapping[str, str | None]:  # noqa: ANN401  whatever JSON holds
    job_id = _id(job)
    return {
        "job_id": job_id,
        "shown_job_id": _shown(job, job_id),
        "cluster": _one(job, "cluster"),
        "job_name": _one(job, "name"),
        "user": _one(job, "user_name", "user"),
        "uid": _one(job, "user_id"),
        "account": _one(job, "account"),
        "partition": _one(job, "partition"),
        "qos": _one(job, "qos"),
        "job_state": _one(job, "job_state", "state.current"),
        "exit_code": _exit_code(_at(job, "exit_code")),
        "submit_at": _one(job, "submit_time", "time.submission"),
        "start_at": _one(job, "start_time", "time.start"),
        "end_at": _one(job, "end_time", "time.end"),
        "run_seconds": _one(job, "time.elapsed"),
        "limit_seconds": minutes(_one(job, "time_limit", "time.limit") or ""),
        "node_count": _one(job, "node_count", "allocation_nodes"),
        "core_count": _one(job, "cpus"),
        "tres": _one(job, "tres_alloc_str") or _allocated(job),
        "node_list": _one(job, "nodes"),
    }


def _steps(jobs: list[Any]) -> Iterator[tuple[int, tuple[Any, Any]]]:
    for number, job in enumerate(jobs, 1):
        steps = _at(job, "steps")
        yield from ((number, (job, step)) for step in (steps if isinstance(steps, list) else ()))


def _step(job_and_step: tuple[Any, Any]) -> Mapping[str, str | None]:
    job, step = job_and_step
    # Releases write `26.batch`, the step's own id alone, or the parts of it.
    name = _one(step, "step.id", "step.id.step_id")
    if name is None:
        raise ValueError("a step of it has no id")
    return {
        "job_id": _id(job),
        "step": name.rpartition(".")[2],
        "cluster": _one(job, "cluster"),
        "job_name": _one(step, "step.name"),
        "job_state": _one(step, "state"),
        "exit_code": _exit_code(_at(step, "exit_code")),
        "start_at": _one(step, "time.start"),
        "end_at": _one(step, "time.end"),
        "run_seconds": _one(step, "time.elapsed"),
        "node_count": _one(step, "nodes.count"),
        "tres": _allocated(step),
        "node_list": _one(step, "nodes.range"),
    }


def _at(value: Any, path: str) -> Any:  # noqa: ANN401  whatever JSON holds
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _one(value: Any, *paths: str) -> str | None:  # noqa: ANN401  whatever JSON holds
    """The first of some places that has a value, as text."""
    return next((text for path in paths if (text := _text(_at(value, path))) is not None), None)


def _text(value: Any) -> str | None:  # noqa: ANN401  whatever JSON holds
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        if value.get("infinite") is True:
            return "UNLIMITED"
        value = value.get("number") if value.get("set") is not False else None
    if isinstance(value, str):
        return text_of(value.encode("utf-8", "backslashreplace"))
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _id(job: Any) -> str:  # noqa: ANN401  whatever JSON holds
    job_id = _one(job, "job_id") or ""
    if not _ID.fullmatch(job_id):
        raise ValueError("it has no job id")
    return job_id


def _shown(job: Any, job_id: str) -> str:  # noqa: ANN401  whatever JSON holds
    array = _one(job, "array_job_id", "array.job_id")
    if array not in (None, "0"):
        task, tasks = _one(job, "array_task_id", "array.task_id"), _one(job, "array_task_string", "array.task")
        return f"{array}_{task}" if task else f"{array}_[{tasks}]" if tasks else job_id
    leader = _one(job, "het_job_id", "het.job_id")
    return job_id if leader in (None, "0") else f"{leader}+{_one(job, 'het_job_offset', 'het.job_offset') or 0}"


def _exit_code(value: Any) -> str | None:  # noqa: ANN401  whatever JSON holds
    """Code and signal; old releases give what wait(2) does."""
    if _at(value, "return_code") is not None:
        return f"{_one(value, 'return_code') or 0}:{_one(value, 'signal.id', 'signal.signal_id') or 0}"
    status = _text(value)
    return f"{int(status) >> 8}:{int(status) & _SIGNAL}" if status and _STATUS.fullmatch(status) else status


def _allocated(value: Any) -> str | None:  # noqa: ANN401  whatever JSON holds
    """Trackable resources as Slurm writes them in one text."""
    entries = _at(value, "tres.allocated")
    if not isinstance(entries, list):
        return None
    names = [("/".join(filter(None, (_one(each, "type"), _one(each, "name")))), _one(each, "count")) for each in entries]
    return ",".join(f"{name}={count}" for name, count in names)


SLURM_JSON: Final = Source("slurm_json", _knows, _read)
