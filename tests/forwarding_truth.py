"""How well it is predicted what gathering leaves: logs of collective calls, against what ROMIO wrote and read for them.

`python tests/forwarding_truth.py` writes docs/forwarding.md. A forwarder's tick stands for a collective call, and MPI-IO's
requests are gathered as its aggregators would: what these made of them is POSIX's part of the log.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from shared import SHARED_DATA, Row, log_of, workloads

from iomine.derive import in_order, mpiio_posix, traces
from iomine.derive.coalesce import (
    CAP_BYTES,
    REASONS,
    TICK,
    Gathering,
    Requests,
    by_aggregators,
    by_blocks,
    coalesced,
    request_costs,
    requests_of,
)
from iomine.errors import UnreadableError
from iomine.schema.ops import OPS, WRITE
from iomine.sources.darshan import Log, read_log
from iomine.units import human_bytes

PAGE: Final = Path(__file__).parents[1] / "docs" / "forwarding.md"
# ROMIO's buffers of 16 MiB hold all that one call of these programs writes on an aggregator.
_NO_CAP: Final = 1 << 40
_CALLS: Final = ("collective_writes", "collective_reads", "split_collective_writes")


class Compared(NamedTuple):
    """What is predicted for a log's requests of MPI-IO in one direction, and what came of them.

    Attributes:
        log: id of the workload.
        op: the direction.
        nprocs: ranks.
        asked: requests of MPI-IO.
        aggregators: ranks that moved the data; 0 where each rank moved its own.
        left: requests that forwarders leave in ticks.
        left_bytes: bytes of these.
        made: requests of POSIX.
        made_bytes: bytes of these.
        halved: requests that half as many forwarders as ranks leave.
    """

    log: str
    op: str
    nprocs: int
    asked: int
    aggregators: int
    left: int
    left_bytes: int
    made: int
    made_bytes: int
    halved: int

    @property
    def is_right(self) -> bool:
        """Whether as many requests of as many bytes were made as predicted."""
        return (self.left, self.left_bytes) == (self.made, self.made_bytes)


def _logs(wanted: Any) -> Iterator[tuple[Row, Log]]:
    for workload in workloads():
        if wanted(workload):
            try:
                yield workload, read_log(log_of(workload))
            except UnreadableError:
                continue


def _layers(log: Log) -> dict[str, Requests]:
    return {trace.trace.layer: requests_of(trace, log.tables) for trace in in_order(traces(log.tables))}


@cache
def compared() -> tuple[Compared, ...]:
    """All logs of collective calls, by direction; those without a trace are left out."""
    logs = _logs(lambda workload: any(workload["truth"].get(name) for name in _CALLS))
    return tuple(row for workload, log in logs for row in _compared(workload["id"], log))


def _compared(name: str, log: Log) -> Iterator[Compared]:
    layers = _layers(log)
    transforms = mpiio_posix(log.tables, traces(log.tables))
    if not transforms or "mpiio" not in layers:
        return
    rows = pa.table(transforms).to_pylist()
    for op, direction in enumerate(OPS):
        of_op = [row for row in rows if row["op"] == direction]
        asked, made = (_of_files(layers[layer], {row["file_id"] for row in of_op}, op) for layer in ("mpiio", "posix"))
        ranks = next((row["aggregator_ranks"] for row in of_op if row["aggregator_ranks"]), None)
        if not len(asked.ranks):
            continue
        mapping = by_aggregators(log.job.nprocs, ranks) if ranks else by_blocks(log.job.nprocs, log.job.nprocs)
        groups = np.zeros(len(asked.file_ids), np.int64)
        left, halved = (
            coalesced(asked, groups, Gathering(each, TICK, _NO_CAP))
            for each in (mapping, by_blocks(log.job.nprocs, max(1, log.job.nprocs // 2)))
        )
        yield Compared(
            name,
            direction,
            log.job.nprocs,
            len(asked.ranks),
            len(ranks or ()),
            int(left.left_count[0]),
            int(left.left_bytes[0]),
            len(made.ranks),
            int((made.ends - made.begins).sum()),
            int(halved.left_count[0]),
        )


def _of_files(requests: Requests, file_ids: set[int], op: int) -> Requests:
    """The requests of these files in one direction."""
    return requests.of_rows(np.isin(requests.file_ids, list(file_ids)) & (requests.ops == op))


# Programs that were run twice, or might have been: the log that is gathered, forwarders, and the log that shows what came of it.
PAIRS: Final = (
    ("s053", "write", 4, "s054", 384),
    ("s055", "write", 4, "s055", 128),
    ("s010", "write", 2, "s010", 192),
    ("s009", "write", 4, None, 384),
    ("s008", "write", 2, None, 192),
)


@cache
def pairs() -> tuple[tuple[str, int, int, int, int, str | None, tuple[int, int] | None], ...]:
    """Log, requests, forwarders, requests left and their mean bytes, and the other log with its requests and their mean bytes."""
    wanted = {name for pair in PAIRS for name in (pair[0], pair[3]) if name}
    layers = {
        workload["id"][:4]: (workload["id"], _layers(log)) for workload, log in _logs(lambda each: each["id"][:4] in wanted)
    }
    return tuple(_pair(layers, *pair[:4]) for pair in PAIRS if pair[0] in layers)


def _pair(layers: Any, name: str, op: str, count: int, other: str | None) -> Any:
    whole, of_layer = layers[name]
    requests = of_layer["mpiio"]
    nprocs = int(requests.ranks.max()) + 1
    left = coalesced(requests, requests.ops, Gathering(by_blocks(nprocs, count), TICK, _NO_CAP))
    code = OPS.index(op)
    asked, leaves = int((requests.ops[requests.rows] == code).sum()), int(left.left_count[code])
    mean = int(left.left_bytes[code]) // leaves
    if other is None:
        return whole, asked, count, leaves, mean, None, None
    other_whole, other_layers = layers[other]
    posix = other_layers["posix"]
    lengths = (posix.ends - posix.begins)[posix.ops[posix.rows] == code]
    return whole, asked, count, leaves, mean, other_whole, (len(lengths), int(lengths.mean()))


# Least and most microseconds that storage was made to take for a request, with what the machine takes; None: not known.
COSTS: Final = {
    **dict.fromkeys(("s003", "s005", "s044", "s045", "s108"), (100, 150)),
    "s053": (350, 450),
    "s004": None,
    "s030": None,
}


@cache
def costs() -> tuple[tuple[str, str, float | None, str | None], ...]:
    """Log, direction, microseconds of a request, and why these are not known."""
    return tuple(_costs(_logs(lambda workload: workload["id"][:4] in COSTS)))


def _costs(logs: Iterator[tuple[Row, Log]]) -> Iterator[tuple[str, str, float | None, str | None]]:
    for workload, log in logs:
        requests = _layers(log)["posix"]
        found, reasons = request_costs(requests, requests.ops)
        for op in np.unique(requests.ops[requests.rows]).tolist():
            is_known = reasons[op] < 0
            yield (
                workload["id"],
                OPS[op],
                1e6 * float(found[op]) if is_known else None,
                None if is_known else REASONS[reasons[op]],
            )


# Why the others are not as predicted.
_HOLES: Final = "ROMIO moves whole buffers with the holes in them; what is asked for lies apart, and forwarders merge nothing."
_VIEW: Final = (
    "as many requests, other sizes: the program has a file view, and offsets in the trace of MPI-IO count within it, so that "
    "ranks' parts seem to overlap."
)
_SIEVED: Final = (
    "ROMIO sieves data: it reads a block and writes it whole, with the pieces in it; MPI-IO's trace has the pieces alone."
)
MISSES: Final = {
    "s011": _HOLES,
    **dict.fromkeys(("s016", "s153"), _SIEVED),
    **dict.fromkeys(("s100", "s103", "s104", "s105", "s106", "s107", "s111", "s112"), _VIEW),
}
_TEXT: Final = """\
# What remains after aggregation, predicted and measured

<!-- Written by tests/forwarding_truth.py. -->

`iomine forward` predicts how many requests forwarders would leave ([the command](cli.md#iomine-forward)). This page compares
predictions with measurements. In collective MPI-IO calls, ROMIO's aggregators gather the k-th call of all ranks. So a
prediction from the requests of MPI-IO, with a window of one tick, can be compared with the requests that POSIX received.

## One program, run in two ways

| log | requests of MPI-IO | forwarders | left | as written by | |
| --- | --- | --- | --- | --- | --- |
{pairs}

## Collective calls that aggregators gathered

{right} of {count} are as predicted, in number and in bytes; {counts} in number.

| log | op | ranks | requests of MPI-IO | aggregators | predicted | seen | |
| --- | --- | --- | --- | --- | --- | --- | --- |
{buffered}

Those that are not:

{misses}

## Collective calls that ROMIO left to each rank

ROMIO found that ranks' parts do not interleave, or was asked not to gather, so that each rank made its own requests; {plain} of
{plain_count} are as MPI-IO was asked. The last column is what half as many forwarders as ranks would have left of them.

| log | op | ranks | requests of MPI-IO | seen | left by half as many |
| --- | --- | --- | --- | --- | --- |
{independent}

{plain_misses}

## What a request costs

What gathering saves is an estimate: requests that are no longer made, at the 10th percentile of the time of those of at most
64 KiB. On storage that was made to take 50 us for a request (s053: 300 us), a request and its way through the machine cost:

| log | op | us | |
| --- | --- | --- | --- |
{costs}

## Known misses

A prototype found 41,739 requests for the Summit log of `darshan/dxt-explorer`, gathered by 16 forwarders within 10 ms;
iomine finds {summit:,}. A loop over bytes that takes requests one by one agrees with it on made-up traces
(`tests/unit/derive/test_coalesce.py`), so that figure is not taken over.
"""


def page() -> str:
    """The text of docs/forwarding.md."""
    buffered = [row for row in compared() if row.aggregators]
    independent = [row for row in compared() if not row.aggregators]
    return _TEXT.format(
        pairs="\n".join(map(_pair_row, pairs())),
        right=sum(row.is_right for row in buffered),
        counts=sum(row.left == row.made for row in buffered),
        count=len(buffered),
        buffered="\n".join(map(_row, buffered)),
        misses="\n".join(_misses(buffered)),
        plain=sum(row.is_right for row in independent),
        plain_count=len(independent),
        independent="\n".join(
            f"| {row.log} | {row.op} | {row.nprocs} | {row.asked} | {row.made} | {row.halved} |" for row in independent
        ),
        plain_misses="\n".join(_misses(independent)),
        costs="\n".join(
            f"| {name} | {op} | {'' if cost is None else round(cost)} | {reason or ''} |" for name, op, cost, reason in costs()
        ),
        summit=summit(),
    )


def summit() -> int:
    """Writes of the Summit log that 16 forwarders leave within 10 ms."""
    (path,) = (SHARED_DATA / "darshan" / "dxt-explorer").glob("jlbez_IO_test5.Linux_*.darshan")
    log = read_log(path)
    requests = _layers(log)["posix"]
    left = coalesced(requests, requests.ops, Gathering(by_blocks(log.job.nprocs, 16), 0.01, CAP_BYTES))
    return int(left.left_count[WRITE])


def missed(rows: tuple[Compared, ...] | list[Compared]) -> list[Compared]:
    """Those that are not as predicted."""
    return [row for row in rows if not row.is_right]


def _misses(rows: list[Compared]) -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for row in missed(rows):
        names = by_reason.setdefault(MISSES[row.log[:4]], [])
        names += [row.log] * (row.log not in names)
    return (f"- {', '.join(names)}: {reason}" for reason, names in by_reason.items())


def _pair_row(pair: tuple[Any, ...]) -> str:
    log, asked, count, left, mean, other, seen = pair
    head = f"| {log} | {asked:,} | {count} | {left:,} of {human_bytes(mean)} |"
    if seen is None:
        return f"{head} nobody: ROMIO left it to each rank | |"
    return f"{head} {other}: {seen[0]:,} of {human_bytes(seen[1])} | {'equal' if seen == (left, mean) else 'not equal'} |"


def _row(row: Compared) -> str:
    predicted, seen = (
        f"{count:,} of {human_bytes(size / max(count, 1))}"
        for count, size in ((row.left, row.left_bytes), (row.made, row.made_bytes))
    )
    verdict = "equal" if row.is_right else "equal number" if row.left == row.made else "not equal"
    return f"| {row.log} | {row.op} | {row.nprocs} | {row.asked:,} | {row.aggregators} | {predicted} | {seen} | {verdict} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
