"""Requests of a traced run with both of their ends: from ranks to carriers, and from carriers to places."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from iomine.derive.collective import Calls, counted_calls, grouped_calls
from iomine.derive.file_names import mounts_of
from iomine.derive.layouts import MOST_BYTES, Layouts, Lustre
from iomine.derive.order import Ordered
from iomine.derive.osts import batches
from iomine.derive.radial.carriers import Requests, carriers
from iomine.derive.radial.clocks import clocks_ahead
from iomine.derive.ranks import hosts_of
from iomine.derive.sorting import distinct
from iomine.derive.trace import Flags, Floats, Integers, Tables, Trace, group_sizes, turns
from iomine.schema.ops import OPS

# The run's length is rounded to whole seconds in old logs, and clocks of nodes differ a little.
_SLACK_SECONDS: Final = 2.0
# No run is as long.
_ABSURD_SECONDS: Final = 1e9

HOST, RANK = range(2)
# Indices in short: of ten million requests each column counts.
Indices = npt.NDArray[np.int32]


class Moves(NamedTuple):
    """Requests, or the parts of them that go to one place, with both of their ends.

    Attributes:
        ops: direction of each, an index into `OPS`.
        ranks: index of the rank that made it.
        carriers: index of its carrier, negative where that is not known.
        places: index of the place that it went to, negative in the outer ring.
        files: index of its file.
        starts: when it started, by a clock that was corrected.
        lengths: its bytes.
        seconds: its latency, NaN where it has none.
    """

    ops: Indices
    ranks: Indices
    carriers: Indices
    places: Indices
    files: Indices
    starts: Floats
    lengths: Integers
    seconds: Floats

    def where(self, flags: Flags) -> "Moves":
        """Some of the requests."""
        return self if flags.all() else Moves._make(column[flags] for column in self)


class Nodes(NamedTuple):
    """What requests come from and go to.

    Attributes:
        ranks: ranks of the traces, in order.
        hosts: index of the host of each, one more than there are names where it is not known.
        host_names: the hosts.
        carrier_kind: whether carriers are hosts or ranks.
        carriers: index of the host, or rank, that each carrier is, in the order of the ranks that it serves.
        positions: where among the ranks each carrier lies: 0 is the first, 1 the last.
        osts: OSTs in order, which are the first places.
        mounts: mounts, which are the places after them, None for one that is not known.
        file_ids: the files.
    """

    ranks: Integers
    hosts: Integers
    host_names: Sequence[str]
    carrier_kind: int
    carriers: Integers
    positions: Floats
    osts: Integers
    mounts: Sequence[str | None]
    file_ids: Integers


class Links(NamedTuple):
    """What was traced of a run, ready to be counted.

    Attributes:
        nodes: what requests come from and go to.
        outer: requests from ranks to carriers.
        inner: requests from carriers to places.
        ahead: seconds by which the clock of each rank was ahead, which were taken off.
        layers: layers that were traced.
        is_matched: whether carriers are known by what they carried.
        without_offset: for each direction, requests of MPI-IO of which it is not known where in the file they lie.
        unsound: for each direction, requests of MPI-IO and of POSIX whose times make no sense.
    """

    nodes: Nodes
    outer: Moves
    inner: Moves
    ahead: Floats
    layers: frozenset[str]
    is_matched: bool
    without_offset: Integers
    unsound: Integers


class _Scene(NamedTuple):
    """What all requests of a run have in common.

    Attributes:
        file_ids: the files, in order.
        ranks: the ranks, in order.
        ahead: seconds by which the clock of each is ahead.
        latest: no request ends later.
    """

    file_ids: Integers
    ranks: Integers
    ahead: Floats
    latest: float


def links_of(tables: Tables, ordered: Sequence[Ordered], lustre: Lustre, nprocs: int, run_seconds: float | None) -> Links | None:
    """Requests of MPI-IO and POSIX with both of their ends; None where neither was traced.

    Args:
        tables: columns by table, in one or more parts.
        ordered: the traces in these, in order.
        lustre: where the bytes of files lie.
        nprocs: ranks of the run.
        run_seconds: length of the run, None where that is not known.
    """
    of_layer = {each.trace.layer: each for each in ordered if each.trace.layer in {"mpiio", "posix"}}
    if not of_layer:
        return None
    traces = [each.trace for each in of_layer.values()]
    file_ids, ranks = (np.unique(np.concatenate([getattr(trace, name) for trace in traces])) for name in ("file_ids", "ranks"))
    hosts, host_names = hosts_of(ranks, tables)
    mpiio, posix = (of_layer.get(layer) for layer in ("mpiio", "posix"))
    ahead = np.zeros(len(ranks))
    if mpiio and posix:
        calls = counted_calls(tables, file_ids)
        rows = _rows(mpiio, file_ids)
        ahead = clocks_ahead(mpiio, Calls(*(column[rows] for column in calls)), ranks, hosts, nprocs)
    latest = _ABSURD_SECONDS if run_seconds is None else min(run_seconds + _SLACK_SECONDS, _ABSURD_SECONDS)
    scene = _Scene(file_ids, ranks, ahead, latest)
    asked, odd_asked = _requests(scene, mpiio.trace if mpiio else None)
    done, odd_done = _requests(scene, posix.trace if posix else None)
    carried = np.full(len(asked.at), -1)
    if mpiio and posix:
        carried = carriers(asked, done, calls, _call_ends(scene, mpiio, calls)[asked.at])
    is_matched = bool((carried >= 0).any())
    kind = RANK if is_matched or not host_names else HOST
    hosts[hosts < 0] = len(host_names)
    carrier_of = np.arange(len(ranks)) if kind == RANK else hosts
    outer = _outer(asked, done, carried) if is_matched else _unmatched(done if posix else asked, carrier_of)
    inner, osts, mounts = _inner(tables, file_ids, lustre, done, carrier_of)
    used, positions = _carriers(outer, inner, carrier_of)
    nodes = Nodes(ranks, hosts, host_names, kind, used, positions, osts, mounts, file_ids)
    number_of = np.full(int(carrier_of.max()) + 2, -1, np.int32)
    number_of[used] = np.arange(len(used))
    outer, inner = (moves._replace(carriers=number_of[moves.carriers]) for moves in (outer, inner))
    without_offset = np.bincount(asked.rows[asked.offsets < 0] % len(OPS), minlength=len(OPS))
    return Links(nodes, outer, inner, ahead, frozenset(of_layer), is_matched, without_offset, np.stack([odd_asked, odd_done]))


def _rows(each: Ordered, file_ids: Integers) -> Integers:
    """File and direction of each row of groups, as one number."""
    rows: Integers = np.searchsorted(file_ids, each.groups.file_ids) * len(OPS) + each.groups.ops
    return rows


def _requests(scene: _Scene, trace: Trace | None) -> tuple[Requests, Integers]:
    """Requests of a trace that move something, and for each direction how many more have times that make no sense."""
    if trace is None:
        nothing = np.empty(0, np.int64)
        return Requests._make([*[nothing] * 6, *[np.empty(0)] * 2]), np.zeros(len(OPS), np.int64)
    is_filled = trace.lengths > 0
    is_sound = (trace.starts >= -_SLACK_SECONDS) & (trace.starts <= trace.ends) & (trace.ends <= scene.latest)
    ops = np.repeat(trace.ops, trace.counts)
    at = np.flatnonzero(is_filled & is_sound)
    odd = np.bincount(ops[is_filled & ~is_sound], minlength=len(OPS))
    runs = np.repeat(np.arange(len(trace.counts)), trace.counts)[at]
    ranks = np.searchsorted(scene.ranks, trace.ranks)
    rows = np.searchsorted(scene.file_ids, trace.file_ids) * len(OPS) + trace.ops
    offsets, lengths = trace.offsets[at], trace.lengths[at]
    is_known = (offsets >= 0) & (offsets <= MOST_BYTES) & (lengths <= MOST_BYTES)
    late = scene.ahead[ranks][runs]
    return Requests(
        at,
        rows[runs],
        (rows * len(scene.ranks) + ranks)[runs],
        ranks[runs],
        offsets if is_known.all() else np.where(is_known, offsets, -1),
        lengths,
        trace.starts[at] - late,
        trace.ends[at] - late,
    ), odd


def _call_ends(scene: _Scene, mpiio: Ordered, calls: Calls) -> Floats:
    """When the collective call of each request of MPI-IO ended, or itself where no call is known.

    Calls are known of files on which there were collective calls alone, and as many by each rank that the trace has.
    """
    trace, groups, order = mpiio.trace, mpiio.groups, mpiio.order
    ends = trace.ends - np.repeat(scene.ahead[np.searchsorted(scene.ranks, trace.ranks)], trace.counts)
    sizes = group_sizes(order.firsts, len(order.groups))
    rows = groups.rows[order.groups[order.firsts]]
    least, most = np.full(len(groups.ops), len(ends)), np.zeros(len(groups.ops), np.int64)
    np.minimum.at(least, rows, sizes)
    np.maximum.at(most, rows, sizes)
    of_rows = _rows(mpiio, scene.file_ids)
    pieces = np.flatnonzero(((calls.collective > 0) & (calls.other == 0))[of_rows][rows] & (least == most)[rows])
    if len(pieces):
        call_of, call_count = grouped_calls(rows[pieces], sizes[pieces])
        at = np.arange(len(ends))[order.at][np.repeat(order.firsts[pieces], sizes[pieces]) + turns(sizes[pieces])]
        last = np.full(call_count, -np.inf)
        np.fmax.at(last, call_of, ends[at])
        ends[at] = last[call_of]
    return ends


def _outer(asked: Requests, done: Requests, carried: Integers) -> Moves:
    """What was asked for through MPI-IO by its carriers, and what ranks moved on other files by themselves."""
    is_known = carried >= 0
    others = done.where(~np.isin(done.rows // len(OPS), asked.rows // len(OPS)))
    seconds = np.where(is_known, done.starts[carried] - asked.starts, np.nan)
    carrier_of = np.where(is_known, done.ranks[carried], -1)
    both = [
        _moves(asked, carrier_of, np.full(len(carried), -1), seconds),
        _moves(others, others.ranks, np.full(len(others.at), -1), np.full(len(others.at), np.nan)),
    ]
    return both[0] if not len(others.at) else Moves._make(np.concatenate(columns) for columns in zip(*both, strict=True))


def _unmatched(requests: Requests, carrier_of: Integers) -> Moves:
    """Requests of ranks by the carriers that these are known to have, which have sizes alone."""
    count = len(requests.at)
    return _moves(requests, carrier_of[requests.ranks], np.full(count, -1), np.full(count, np.nan))


def _moves(requests: Requests, carrier_of: Integers, places: Integers, seconds: Floats) -> Moves:
    short = [requests.rows % len(OPS), requests.ranks, carrier_of, places, requests.rows // len(OPS)]
    return Moves._make([*(column.astype(np.int32) for column in short), requests.starts, requests.lengths, seconds])


def _inner(
    tables: Tables, file_ids: Integers, lustre: Lustre, done: Requests, carrier_of: Integers
) -> tuple[Moves, Integers, Sequence[str | None]]:
    """What was moved by the places that it went to, the OSTs of these, and their mounts."""
    mounts, mount_of = mounts_of(tables, file_ids)
    places, osts = mount_of[done.rows // len(OPS)], np.empty(0, np.int64)
    seconds = done.ends - done.starts
    if lustre.is_known and len(done.at):
        layouts = lustre.layouts
        done, slots, seconds = _parted(layouts, np.searchsorted(lustre.file_ids, file_ids), done)
        osts = np.array(sorted(place for place in layouts.places if isinstance(place, int)), np.int64)
        of_place = np.array([place if isinstance(place, int) else -1 for place in layouts.places], np.int64)
        places = np.where(of_place >= 0, np.searchsorted(osts, of_place), -1)[layouts.slot_places][slots]
        if (is_elsewhere := places < 0).any():
            places[is_elsewhere] = len(osts) + mount_of[done.rows[is_elsewhere] // len(OPS)]
    is_used = np.bincount(places, minlength=len(osts) + len(mounts)) > 0
    places = (np.cumsum(is_used) - 1)[places]
    used_mounts = [mount for mount, used in zip(mounts, is_used[len(osts) :].tolist(), strict=True) if used]
    return _moves(done, carrier_of[done.ranks], places, seconds), osts[is_used[: len(osts)]], used_mounts


def _parted(layouts: Layouts, numbers: Integers, done: Requests) -> tuple[Requests, Integers, Floats]:
    """Parts of requests with as many bytes as went to one slot, the slots, and the time that the whole request took.

    Args:
        layouts: layouts of files.
        numbers: of each file of the requests its number among these.
        done: the requests.
    """
    files = numbers[done.rows // len(OPS)]
    ranges, slots, sizes = [], [], []
    for batch in batches(layouts, files, done.lengths):
        begins = np.where(done.offsets[batch] < 0, -done.lengths[batch], done.offsets[batch])
        parts = layouts.parts(files[batch], begins, begins + done.lengths[batch])
        at, size = parts.is_first, parts.sizes
        if not at.all():
            # A place on several slots takes all that any of them does.
            size = np.bincount(_first_of(layouts, parts.ranges, parts.slots, at), size, len(size)).astype(np.int64)
        ranges.append(parts.ranges[at] + batch.start)
        slots.append(parts.slots[at])
        sizes.append(size[at])
    of_parts = np.concatenate(ranges)
    parted = Requests._make(column[of_parts] for column in done)._replace(lengths=np.concatenate(sizes))
    return parted, np.concatenate(slots), parted.ends - parted.starts


def _first_of(layouts: Layouts, ranges: Integers, slots: Integers, is_first: Flags) -> Integers:
    """For each part the first part of its range on the same place."""
    keys = ranges * len(layouts.places) + layouts.slot_places[slots]
    firsts = np.flatnonzero(is_first)
    order = np.argsort(keys[firsts])
    found: Integers = firsts[order[np.searchsorted(keys[firsts], keys, sorter=order)]]
    return found


def _carriers(outer: Moves, inner: Moves, carrier_of: Integers) -> tuple[Integers, Floats]:
    """Carriers in the order of the ranks that they serve, and where these lie on average: 0 is the first rank, 1 the last."""
    count = int(carrier_of.max()) + 1
    # Each rank once for each of its carriers; what a rank did by itself says where it is if it serves no other.
    keys = distinct((outer.ranks.astype(np.int64) * count + outer.carriers)[outer.carriers >= 0])
    ranks, served = np.divmod(keys, count)
    own_ranks = distinct(inner.ranks)
    own = carrier_of[own_ranks]
    used = np.union1d(served, own)
    sums, numbers = np.bincount(served, ranks, count), np.bincount(served, minlength=count)
    own_sums, own_numbers = np.bincount(own, own_ranks, count), np.bincount(own, minlength=count)
    is_serving = numbers > 0
    sums, numbers = np.where(is_serving, sums, own_sums)[used], np.where(is_serving, numbers, own_numbers)[used]
    positions = sums / numbers / max(len(carrier_of) - 1, 1)
    order = np.argsort(positions, kind="stable")
    return used[order], positions[order]
