"""How much I/O lies within the steps that a program, or its framework, names above its calls."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from iomine.derive.trace import Floats, Integers, Trace, group_sizes, group_starts
from iomine.schema.ops import OPS, Steps


class _Stretches(NamedTuple):
    """Time in which a rank has a request open: stretches without overlap, in the order of time, and the time before each."""

    starts: Floats
    ends: Floats
    before: Floats

    def seconds_until(self, times: Floats) -> Floats:
        """Time in stretches up to some moments."""
        at = np.searchsorted(self.starts, times, "right")
        last = np.maximum(at - 1, 0)
        seconds: Floats = np.where(at > 0, self.before[last] + np.minimum(times, self.ends[last]) - self.starts[last], 0.0)
        return seconds


def app_phases(steps: Steps, traces: Sequence[Trace]) -> dict[str, pa.Array]:
    """Columns of the table `app_phase`: each step, and the I/O of its rank meanwhile.

    Time is that in which some request of the rank was under way, and bytes are those of requests that began within the step.
    A step within another counts in both.

    Args:
        steps: at least one.
        traces: requests of all layers.
    """
    order = np.lexsort((steps.starts, steps.ranks))
    ranks, starts, ends = steps.ranks[order], steps.starts[order], steps.ends[order]
    columns: dict[str, Any] = {
        "app_layer": pa.array(steps.layers).dictionary_encode().take(pa.array(order)),
        "app_step": pa.array(steps.names).take(pa.array(order)),
        "rank": ranks,
        "start_seconds": starts,
        "end_seconds": ends,
    }
    firsts = group_starts(ranks)
    for code, op in enumerate(OPS):
        seconds, moved = np.zeros(len(ranks)), np.zeros(len(ranks), np.int64)
        requests = _requests(traces, code)
        for first, size in zip(firsts.tolist(), group_sizes(firsts, len(ranks)).tolist(), strict=True):
            own = slice(first, first + size)
            seconds[own], moved[own] = _within(requests, int(ranks[first]), starts[own], ends[own])
        columns |= {f"{op}_seconds": seconds, f"{op}_bytes": moved}
    return {name: pa.array(column) for name, column in columns.items()}


class _Requests(NamedTuple):
    """Requests of one direction, by rank and then by start."""

    ranks: Integers
    starts: Floats
    ends: Floats
    lengths: Integers


def _requests(traces: Sequence[Trace], op: int) -> _Requests:
    parts = []
    for trace in traces:
        is_own = np.repeat(trace.ops == op, trace.counts)
        parts.append(
            (np.repeat(trace.ranks, trace.counts)[is_own], *(x[is_own] for x in (trace.starts, trace.ends, trace.lengths)))
        )
    nothing = np.empty(0, np.int64)
    ranks, starts, ends, lengths = map(np.concatenate, zip((nothing, np.empty(0), np.empty(0), nothing), *parts, strict=True))
    order = np.lexsort((starts, ranks))
    return _Requests(ranks[order], starts[order], ends[order], lengths[order])


def _within(requests: _Requests, rank: int, starts: Floats, ends: Floats) -> tuple[Floats, Integers]:
    """Seconds in requests of a rank, and bytes of those that began, within each of some spans of time."""
    own = slice(*np.searchsorted(requests.ranks, (rank, rank + 1)))
    begun, ended, lengths = requests.starts[own], requests.ends[own], requests.lengths[own]
    if not len(begun):
        return np.zeros(len(starts)), np.zeros(len(starts), np.int64)
    latest = np.maximum.accumulate(ended)
    is_new = np.append(True, begun[1:] > latest[:-1])
    heads = np.flatnonzero(is_new)
    tails = np.append(heads[1:], len(begun)) - 1
    spans = latest[tails] - begun[heads]
    stretches = _Stretches(begun[heads], latest[tails], np.cumsum(spans) - spans)
    total = np.append(0, np.cumsum(lengths))
    moved = total[np.searchsorted(begun, ends, "left")] - total[np.searchsorted(begun, starts, "left")]
    return stretches.seconds_until(ends) - stretches.seconds_until(starts), np.maximum(moved, 0)
