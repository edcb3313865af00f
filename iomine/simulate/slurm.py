"""What Slurm's accounting would have said: `sacct -P`, jobs and their steps, in UTC."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

from iomine.simulate.jobs import Done
from iomine.simulate.network import RANKS_PER_NODE
from iomine.simulate.program import host
from iomine.simulate.texts import iso

_COLUMNS: Final = (
    "JobID|JobIDRaw|JobName|User|UID|Account|Partition|State|ExitCode|Submit|Start|End|ElapsedRaw|NNodes|NCPUS|AllocTRES|NodeList"
)
_NODE_MEMORY_GIB: Final = 256
_LEAST_SECONDS: Final = 2
# What becomes of jobs that leave no log: state, exit code, whether they ever started.
_WITHOUT_LOG: Final = (
    ("COMPLETED", "0:0", True),
    ("FAILED", "1:0", True),
    ("CANCELLED", "0:0", False),
    ("TIMEOUT", "0:15", True),
)


def header() -> str:
    """The first line."""
    return f"{_COLUMNS}\n"


def lines(done: Iterable[Done]) -> str:
    """Jobs and their steps, in the order given."""
    return "".join(_job(each) for each in done)


def _job(done: Done) -> str:
    job, application = done.job, done.job.application
    name = application.exe.split()[0].rpartition("/")[2]
    state, code, has_started = ("COMPLETED", "0:0", True) if done.steps else _WITHOUT_LOG[job.job_id % len(_WITHOUT_LOG)]
    who = f"{application.user}|{application.uid}|{application.account}"
    submit, nodes = iso(job.submit), job.nodes.tolist()
    if not has_started:
        head = _head(job.job_id, name, who, "batch", f"{state} by {application.uid}", code)
        return f"{head}|{submit}|None|{iso(job.start)}|0|0|0||None assigned\n"
    end = math.ceil(done.steps[-1][1]) + 1 if done.steps else job.start + _LEAST_SECONDS + job.job_id % 300
    nobody = f"||{application.account}"
    found = [_head(job.job_id, name, who, "batch", state, code) + _rest(submit, job.start, end, nodes)]
    batch = _head(f"{job.job_id}.batch", "batch", nobody, "", state, code)
    found.append(batch + _rest(iso(job.start), job.start, end, nodes[:1]))
    for step, ((begin, finish), ranks) in enumerate(zip(done.steps, done.ranks, strict=True)):
        used = nodes[: -(-ranks // RANKS_PER_NODE)]
        head = _head(f"{job.job_id}.{step}", name, nobody, "", "COMPLETED", "0:0")
        found.append(head + _rest(iso(begin), int(begin), math.ceil(finish), used))
    return "".join(found)


def _head(job_id: int | str, *columns: str) -> str:
    return "|".join((f"{job_id}|{job_id}", *columns))


def _rest(submit: str, start: int, end: int, nodes: Sequence[int]) -> str:
    count = len(nodes)
    cpus, memory = count * RANKS_PER_NODE, count * _NODE_MEMORY_GIB
    tres = f"billing={cpus},cpu={cpus},mem={memory}G,node={count}"
    return f"|{submit}|{iso(start)}|{iso(end)}|{end - start}|{count}|{cpus}|{tres}|{host_list(nodes)}\n"


def host_list(nodes: Sequence[int]) -> str:
    """Names of nodes, which are in order, as Slurm folds them: `nid[00001-00004,00009]`."""
    ranges: list[tuple[int, int]] = []
    for node in nodes:
        if ranges and node == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], node)
        else:
            ranges.append((node, node))
    folded = (f"{first:05d}" if first == last else f"{first:05d}-{last:05d}" for first, last in ranges)
    return host(nodes[0]) if len(nodes) == 1 else f"nid[{','.join(folded)}]"
