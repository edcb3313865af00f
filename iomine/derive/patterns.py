"""In what pattern ranks go through files: a trace's requests compressed into runs of one pattern each."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from iomine.derive.columns import TOO_MANY, counts, labels, stacked
from iomine.derive.order import Order, Ordered
from iomine.derive.trace import Flags, Floats, Integers, Trace
from iomine.schema.column import Column
from iomine.schema.ops import OPS

_PATTERNS: Final = ("single", "consecutive", "sequential", "strided", "repeated", "mixed", "random")
_SINGLE, _CONSECUTIVE, _SEQUENTIAL, _STRIDED, _REPEATED, _MIXED, _RANDOM = range(len(_PATTERNS))

# A run has this many requests, or this share of its group's, and never fewer than the least: chance makes shorter ones.
_ENOUGH: Final = 16
_SHARE: Final = 4
_LEAST: Final = 3
_MOST_RUNS: Final = 64
# Of ten links between requests so many go backwards where the order is random; half of them do where it is pure chance.
_RANDOM_TENTHS: Final = 3


class _Blocks(NamedTuple):
    """Blocks: stretches of requests of which each starts where the one before ended, as long as they get.

    Attributes:
        groups: group of each.
        firsts: index of each one's first request.
        sizes: requests of each.
        begins: where in the file each starts.
        lengths: bytes from there to its end.
        has_before: its group has a block before it.
        is_backward: it starts before the end of the block before in its group.
        enough: how many requests make a run in its group.
        many: how many make a block a run of its own: no group has more than 64 blocks of as many.
    """

    groups: Integers
    firsts: Integers
    sizes: Integers
    begins: Integers
    lengths: Integers
    has_before: Flags
    is_backward: Flags
    enough: Integers
    many: Integers


class _Runs(NamedTuple):
    """Runs of requests.

    Attributes:
        groups: group of each.
        patterns: index into `_PATTERNS`.
        begins: where in the file each starts.
        strides: from the start of its first block to that of the next, which is a stride where runs are strided or repeated.
        requests: requests of each.
        consecutive: how many of them start where the one before ended.
        backward: how many of them start before the end of the one before.
        moved: bytes of each, as floats, which are exact up to 2**53.
        shortest: bytes of the shortest request that moved anything, more than any has where there is none.
        longest: bytes of the longest request.
        starts: when each started.
        ends: when the last of its requests ended, NaN where no end makes sense.
    """

    groups: Integers
    patterns: Integers
    begins: Integers
    strides: Integers
    requests: Integers
    consecutive: Integers
    backward: Integers
    moved: Floats
    shortest: Integers
    longest: Integers
    starts: Floats
    ends: Floats


def access_runs(traces: Sequence[Ordered]) -> dict[str, Column]:
    """Rows of the table `access_run`; no columns where there are no rows.

    Requests of a rank on a file in one direction are taken in order of their start, those without a length among them,
    and cut into runs, each a stretch of them in one pattern:

    - `strided`: requests of equal length, the starts of which are equally far apart, forwards or backwards, or in one
      place; or blocks of equal length, equally far apart, where a block is requests without a gap;
    - `repeated`: such blocks that lie over each other: passes over a part of the file, with a stride of 0 the same part;
    - `consecutive`: each request starts where the one before ended;
    - `sequential`: all go forward, with gaps that vary;
    - `single`: one request;
    - what lies between runs: `random` where three requests of ten or more go backwards, otherwise `mixed`.

    A run of the first four kinds has at least 16 requests or a quarter of the group's, whichever is less, unless it is
    all that lies between two others. Where a group has more than 64 runs, the 63 with most requests are kept, and the
    rest, which need not follow each other, are one `mixed` or `random` row. So requests and bytes always add up to
    those of the trace. Where an offset is not known, the group is one row without a pattern.
    """
    return stacked([_access_runs(trace) for trace in traces])


def _access_runs(ordered: Ordered) -> dict[str, Column]:
    trace, groups, order = ordered.trace, ordered.groups, ordered.order
    is_unknown = order.unknown(len(groups.ranks))
    runs = _capped(_runs(trace, order, is_unknown))
    rows = groups.rows[runs.groups]
    of_unknown = is_unknown[runs.groups]
    return {
        "layer": labels(np.zeros(len(rows), np.int64), [trace.layer]),
        "file_id": Column(groups.file_ids[rows]),
        "rank": Column(groups.ranks[runs.groups]),
        "op": labels(groups.ops[rows], OPS),
        "pattern": labels(np.where(of_unknown, -1, runs.patterns), _PATTERNS),
        "offset_bytes": Column(runs.begins, mask=of_unknown),
        "length_bytes": Column(runs.longest, mask=runs.shortest < runs.longest),
        "stride_bytes": Column(runs.strides, mask=of_unknown | ((runs.patterns != _STRIDED) & (runs.patterns != _REPEATED))),
        "request_count": Column(runs.requests),
        "consecutive_count": Column(runs.consecutive, mask=of_unknown),
        "moved_bytes": counts(runs.moved),
        "start_seconds": _times(runs.starts),
        "end_seconds": _times(runs.ends),
    }


def _times(values: Floats) -> Column:
    return Column(values, ~(np.abs(values) < TOO_MANY))


def _runs(trace: Trace, order: Order, is_unknown: Flags) -> _Runs:
    blocks = _blocks(order)
    is_start, is_strided = _cut(blocks)
    # There is no order where offsets are not known.
    is_start &= ~(is_unknown[blocks.groups] & blocks.has_before)
    of_runs = np.flatnonzero(is_start)
    firsts = blocks.firsts[of_runs]
    requests = np.diff(firsts, append=len(order.groups))
    block_counts = np.diff(of_runs, append=len(is_start))
    backward = np.add.reduceat(blocks.is_backward, of_runs, dtype=np.int64)
    strides = np.append(blocks.begins, 0)[of_runs + 1] - blocks.begins[of_runs]
    patterns = _between(backward, requests)
    patterns[backward == blocks.is_backward[of_runs]] = _SEQUENTIAL
    patterns[block_counts == 1] = _CONSECUTIVE
    patterns[requests == 1] = _SINGLE
    # Blocks of several requests that lie over each other are passes over a part of the file.
    is_over = (requests > block_counts) & (np.abs(strides) < blocks.lengths[of_runs])
    patterns[is_strided[of_runs]] = np.where(is_over, _REPEATED, _STRIDED)[is_strided[of_runs]]
    lengths, ends = trace.lengths[order.at], trace.ends[order.at]
    shortest = lengths if lengths.all() else np.where(lengths > 0, lengths, np.iinfo(np.int64).max)
    return _Runs(
        blocks.groups[of_runs],
        patterns,
        blocks.begins[of_runs],
        strides,
        requests,
        requests - block_counts,
        backward,
        np.add.reduceat(lengths, firsts, dtype=np.float64),
        np.minimum.reduceat(shortest, firsts),
        np.maximum.reduceat(lengths, firsts),
        trace.starts[order.at][firsts],
        np.fmax.reduceat(ends, firsts),
    )


def _between(backward: Integers, requests: Integers) -> Integers:
    """The pattern of what lies between runs."""
    return np.where(10 * backward >= _RANDOM_TENTHS * requests, _RANDOM, _MIXED)


def _blocks(order: Order) -> _Blocks:
    firsts, ends = order.extents()
    groups, begins = order.groups[firsts], order.begins[firsts]
    has_before = np.zeros(len(firsts), dtype=bool)
    np.equal(groups[1:], groups[:-1], out=has_before[1:])
    is_backward = has_before.copy()
    is_backward[1:] &= begins[1:] < ends[:-1]
    in_group = np.bincount(order.groups)
    enough = np.clip(in_group // _SHARE, _LEAST, _ENOUGH)
    many = np.maximum(enough, -(-in_group // _MOST_RUNS))
    sizes = np.diff(firsts, append=len(order.groups))
    return _Blocks(groups, firsts, sizes, begins, ends - begins, has_before, is_backward, enough[groups], many[groups])


def _cut(blocks: _Blocks) -> tuple[Flags, Flags]:
    """Blocks that start a run, and blocks that are part of a strided one."""
    end = len(blocks.firsts)
    is_start = np.append(~blocks.has_before, True)
    is_strided = np.zeros(end + 1, np.int8)
    firsts, afters = _strided(blocks)
    is_start[firsts] = is_start[afters] = True
    is_strided[firsts] += 1
    is_strided[afters] -= 1
    is_taken = np.cumsum(is_strided[:-1], dtype=np.int8) > 0
    is_strided_block = is_taken.copy()
    is_long = ~is_taken & (blocks.sizes >= blocks.many)
    is_start[:-1] |= is_long
    is_start[1:] |= is_long
    is_taken |= is_long
    # Of what is left, stretches that go forward.
    forward = np.flatnonzero(is_start[:-1] | blocks.is_backward)
    requests = np.diff(np.append(blocks.firsts[forward], blocks.firsts[-1] + blocks.sizes[-1]))
    is_run = ~is_taken[forward] & (requests >= blocks.enough[forward])
    is_start[forward[is_run]] = is_start[np.append(forward[1:], end)[is_run]] = True
    return is_start[:-1], is_strided_block


def _strided(blocks: _Blocks) -> tuple[Integers, Integers]:
    """First blocks of strided runs, and the blocks after their last."""
    strides, lengths, sizes = np.diff(blocks.begins), blocks.lengths, blocks.sizes
    # Whether a block follows the one before as that follows the one before it.
    is_alike = strides[1:] == strides[:-1]
    is_alike &= (lengths[2:] == lengths[1:-1]) & (lengths[1:-1] == lengths[:-2])
    is_alike &= blocks.has_before[2:] & blocks.has_before[1:-1]
    edges = np.flatnonzero(np.diff(is_alike, prepend=False, append=False))
    firsts, afters = edges[::2], edges[1::2] + 2
    requests = np.append(blocks.firsts, blocks.firsts[-1] + sizes[-1])[afters] - blocks.firsts[firsts]
    is_run = requests >= blocks.enough[firsts]
    firsts, afters = firsts[is_run], afters[is_run]
    # The last block of one stride can be the first of the next, and stays with the earlier.
    firsts[1:] = np.maximum(firsts[1:], afters[:-1])
    return firsts, afters


def _capped(runs: _Runs) -> _Runs:
    """Runs, those beyond the most that a group may have made one."""
    in_group = np.bincount(runs.groups)
    if in_group.max() <= _MOST_RUNS:
        return runs
    by_size = np.lexsort((-runs.requests, runs.groups))
    place = np.arange(len(by_size)) - (np.cumsum(in_group) - in_group)[runs.groups[by_size]]
    is_rest = np.empty(len(by_size), dtype=bool)
    is_rest[by_size] = (place >= _MOST_RUNS - 1) & (in_group > _MOST_RUNS)[runs.groups[by_size]]
    order = np.lexsort((is_rest, runs.groups))
    is_rest = is_rest[order]
    runs = _Runs._make(column[order] for column in runs)
    firsts = np.flatnonzero(~is_rest | np.append(True, ~is_rest[:-1]))
    requests, backward = np.add.reduceat(runs.requests, firsts), np.add.reduceat(runs.backward, firsts)
    return _Runs(
        runs.groups[firsts],
        np.where(is_rest[firsts], _between(backward, requests), runs.patterns[firsts]),
        runs.begins[firsts],
        runs.strides[firsts],
        requests,
        np.add.reduceat(runs.consecutive, firsts),
        backward,
        np.add.reduceat(runs.moved, firsts),
        np.minimum.reduceat(runs.shortest, firsts),
        np.maximum.reduceat(runs.longest, firsts),
        runs.starts[firsts],
        np.fmax.reduceat(runs.ends, firsts),
    )
