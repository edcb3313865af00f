"""Requests of a traced run with both of their ends: from ranks to carriers, and from carriers to places."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from iomine.derive.batch import Files, TooMuchTogetherError, of_each_log
from iomine.derive.collective import Calls, counted_calls, grouped_calls
from iomine.derive.file_names import mounts_of
from iomine.derive.layouts import MOST_BYTES, Layouts, Lustre
from iomine.derive.order import Ordered
from iomine.derive.osts import batches
from iomine.derive.radial.carriers import Requests, carriers
from iomine.derive.radial.clocks import clocks_ahead
from iomine.derive.ranks import host_names, hosts_of
from iomine.derive.sorting import distinct
from iomine.derive.trace import Flags, Floats, Integers, Tables, group_sizes, group_starts, grouped, turns
from iomine.schema.ops import OPS

# The run's length is rounded to whole seconds in old logs, and clocks of nodes differ a little.
_SLACK_SECONDS: Final = 2.0
# No run is as long.
_ABSURD_SECONDS: Final = 1e9

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
    """What requests come from and go to; nodes of each kind come log by log.

    Attributes:
        ranks: ranks of the traces, those of a log in order.
        rank_logs: log of each.
        hosts: index of the host of each.
        host_names: the hosts. After them comes one for each log, for those that are not known.
        host_logs: log of each, of those not known too.
        are_hosts: whether carriers are hosts, for each log; otherwise they are ranks.
        carriers: index of the rank that each carrier is, or of the host, which come after the ranks; in the order of the ranks
            that it serves.
        positions: where among the ranks each carrier lies: 0 is the first, 1 the last.
        osts: the OST that each place is, of a log in order; negative for the mounts after them.
        mounts: the mount that each place is, None for one that is not known.
        place_logs: log of each place.
        file_ids: the files.
        file_logs: log of each.
    """

    ranks: Integers
    rank_logs: Integers
    hosts: Integers
    host_names: Sequence[str]
    host_logs: Integers
    are_hosts: Flags
    carriers: Integers
    positions: Floats
    osts: Integers
    mounts: Sequence[str | None]
    place_logs: Integers
    file_ids: Integers
    file_logs: Integers

    @property
    def log_count(self) -> int:
        """How many logs there are."""
        return len(self.are_hosts)

    @property
    def carrier_logs(self) -> Integers:
        """The log of each carrier."""
        logs: Integers = np.concatenate([self.rank_logs, self.host_logs])[self.carriers]
        return logs

    def of_moves(self, of_logs: npt.NDArray[Any], moves: Moves) -> npt.NDArray[Any]:
        """What is known of each log, for each of some requests; of a single log once, which takes no memory."""
        return of_logs if len(of_logs) == 1 else of_logs[self.rank_logs[moves.ranks]]

    def stretches(self, moves: Moves) -> tuple[Integers, Integers]:
        """The log of each stretch of requests of one log, and index of its first."""
        if self.log_count == 1 or not len(moves.ranks):
            nothing = np.zeros(min(len(moves.ranks), 1), np.int64)
            return nothing, nothing
        logs = self.rank_logs[moves.ranks]
        firsts = group_starts(logs)
        return logs[firsts], firsts

    def counts(self, moves: Moves) -> Integers:
        """How many of some requests each log has."""
        logs, firsts = self.stretches(moves)
        return np.bincount(logs, np.diff(firsts, append=len(moves.ranks)), self.log_count).astype(np.int64)


class Links(NamedTuple):
    """What was traced of runs, ready to be counted.

    Attributes:
        nodes: what requests come from and go to.
        outer: requests from ranks to carriers.
        inner: requests from carriers to places.
        ahead: seconds by which the clock of each rank was ahead, which were taken off.
        layers: layers that were traced.
        are_matched: whether carriers are known by what they carried, for each log.
        without_offset: for each log and direction, requests of MPI-IO of which it is not known where in the file they lie.
        unsound: for each of MPI-IO and POSIX, log and direction, requests whose times make no sense.
    """

    nodes: Nodes
    outer: Moves
    inner: Moves
    ahead: Floats
    layers: frozenset[str]
    are_matched: Flags
    without_offset: Integers
    unsound: Integers


class _Layer(NamedTuple):
    """The trace of a layer.

    Attributes:
        ordered: the trace, in order.
        files: index of the file of each run.
        ranks: index of the rank of each run.
    """

    ordered: Ordered
    files: Integers
    ranks: Integers


def links_of(
    tables: Tables,
    ordered: Sequence[Ordered],
    lustre: Lustre,
    nprocs: Integers | int,
    run_seconds: Floats | float | None,
    *,
    hosts: Sequence[Sequence[str]] | None = None,
) -> Links | None:
    """Requests of MPI-IO and POSIX with both of their ends; None where neither was traced.

    Args:
        tables: columns by table, in one or more parts.
        ordered: the traces in these, in order.
        lustre: where the bytes of files lie.
        nprocs: ranks of the run, or of each log's.
        run_seconds: length of the run, or of each log's; None, or NaN, where that is not known.
        hosts: for each log its hosts, as `host_names` gives them; None where the tables are those of one log.

    Raises:
        TooMuchTogetherError: some logs have a trace of a layer that others lack.
    """
    traced = [each for each in ordered if each.trace.layer in {"mpiio", "posix"}]
    if not traced:
        return None
    nprocs = of_each_log(nprocs)
    if any(len(group_starts(each.trace.logs)) < len(nprocs) for each in traced):
        raise TooMuchTogetherError
    layers, ranks, rank_logs, files = _layers(traced)
    rank_hosts, names, host_logs = _hosts(tables, ranks, rank_logs, hosts or [host_names(tables)])
    mpiio, posix = (layers.get(layer) for layer in ("mpiio", "posix"))
    ahead = np.zeros(len(ranks))
    if mpiio and posix:
        calls = counted_calls(tables, files.file_ids)
        of_groups = np.empty(len(mpiio.ordered.groups.ranks), np.int64)
        of_groups[mpiio.ordered.groups.of_run] = mpiio.ranks
        rows = _rows(mpiio, files)
        ahead = clocks_ahead(mpiio.ordered, Calls(*(column[rows] for column in calls)), of_groups, rank_hosts, nprocs)
    latest = np.fmin(of_each_log(run_seconds) + _SLACK_SECONDS, _ABSURD_SECONDS)
    asked, odd_asked = _requests(mpiio, ahead, latest)
    done, odd_done = _requests(posix, ahead, latest)
    carried = np.full(len(asked.at), -1)
    if mpiio and posix:
        carried = carriers(asked, done, calls, _call_ends(mpiio, ahead, calls, files)[asked.at])
    is_served = np.zeros(len(ranks), bool)
    is_served[asked.ranks[carried >= 0]] = True
    are_matched = np.bincount(rank_logs, is_served) > 0
    are_hosts = ~are_matched & (np.bincount(host_logs) > 1)
    # The host that is not known comes after all others.
    rank_hosts = np.where(rank_hosts < 0, len(names) + rank_logs, rank_hosts)
    carrier_of = np.where(are_hosts[rank_logs], len(ranks) + rank_hosts, np.arange(len(ranks)))
    if are_matched.any():
        outer = _outer(asked, done, carried, carrier_of, are_matched[rank_logs])
    else:
        outer = _unmatched(done if posix else asked, carrier_of)
    inner, (osts, mounts, place_logs) = _inner(tables, lustre, done, carrier_of, files)
    used, positions = _carriers(outer, inner, carrier_of, rank_logs, host_logs)
    nodes = Nodes(
        *(ranks, rank_logs, rank_hosts, names, host_logs, are_hosts, used, positions),
        *(osts, mounts, place_logs, files.file_ids, files.logs),
    )
    number_of = numbers(used, len(ranks) + len(host_logs))
    outer, inner = (moves._replace(carriers=number_of[moves.carriers]) for moves in (outer, inner))
    nowhere = asked.rows[asked.offsets < 0]
    without_offset = _by_log(files.logs[nowhere // len(OPS)], nowhere % len(OPS), len(nprocs))
    return Links(nodes, outer, inner, ahead, frozenset(layers), are_matched, without_offset, np.stack([odd_asked, odd_done]))


def _layers(traced: Sequence[Ordered]) -> tuple[dict[str, _Layer], Integers, Integers, Files]:
    """Layers by name; the ranks of their traces, the log of each, and the files."""
    logs, ranks, file_ids = (
        np.concatenate([getattr(each.trace, name) for each in traced]) for name in ("logs", "ranks", "file_ids")
    )
    (by_rank, rank_of), (by_file, file_of) = grouped(logs, ranks), grouped(file_ids)
    edges = np.cumsum([len(each.trace.logs) for each in traced[:-1]])
    of_runs = zip(traced, np.split(file_of, edges), np.split(rank_of, edges), strict=True)
    layers = {each.trace.layer: _Layer(each, files, own) for each, files, own in of_runs}
    return layers, ranks[by_rank], logs[by_rank], Files(logs[by_file], file_ids[by_file])


def _hosts(
    tables: Tables, ranks: Integers, logs: Integers, hosts: Sequence[Sequence[str]]
) -> tuple[Integers, list[str], Integers]:
    """The host of each rank, negative where it is not known; hosts log by log; and the log of each.

    After these come the logs once more, for hosts that are not known.
    """
    codes, names = hosts_of(ranks, tables, logs)
    code_of = {name: code for code, name in enumerate(names)}
    found = [(log, code_of[name]) for log, of_log in enumerate(hosts) for name in of_log]
    host_logs, host_codes = np.array(found, np.int64).reshape(-1, 2).T
    keys = host_logs * len(names) + host_codes
    order = np.argsort(keys)
    is_known = codes >= 0
    host_of = np.full(len(ranks), -1)
    host_of[is_known] = order[np.searchsorted(keys[order], (logs * len(names) + codes)[is_known])]
    return host_of, [names[code] for _, code in found], np.append(host_logs, np.arange(len(hosts)))


def _rows(mpiio: _Layer, files: Files) -> Integers:
    """File and direction of each row of groups, as one number."""
    groups = mpiio.ordered.groups
    rows: Integers = np.searchsorted(files.file_ids, groups.file_ids) * len(OPS) + groups.ops
    return rows


def _by_log(logs: Integers, ops: Integers, log_count: int) -> Integers:
    """How many there are of each log and direction."""
    return np.bincount(logs * len(OPS) + ops, minlength=log_count * len(OPS)).reshape(-1, len(OPS))


def _requests(layer: _Layer | None, ahead: Floats, latest: Floats) -> tuple[Requests, Integers]:
    """Requests that move something, and for each log and direction how many more have times that make no sense.

    Args:
        layer: their trace.
        ahead: seconds by which the clock of each rank is ahead.
        latest: when the last request of each log ends at the latest.
    """
    if layer is None:
        nothing = np.empty(0, np.int64)
        return Requests._make([*[nothing] * 6, *[np.empty(0)] * 2]), np.zeros((len(latest), len(OPS)), np.int64)
    trace = layer.ordered.trace
    is_filled = trace.lengths > 0
    is_sound = (trace.starts >= -_SLACK_SECONDS) & (trace.starts <= trace.ends)
    is_sound &= trace.ends <= (latest if len(latest) == 1 else np.repeat(latest[trace.logs], trace.counts))
    runs = np.repeat(np.arange(len(trace.counts)), trace.counts)
    odd = runs[is_filled & ~is_sound]
    at = np.flatnonzero(is_filled & is_sound)
    runs = runs[at]
    rows = layer.files * len(OPS) + trace.ops
    offsets, lengths = trace.offsets[at], trace.lengths[at]
    is_known = (offsets >= 0) & (offsets <= MOST_BYTES) & (lengths <= MOST_BYTES)
    late = ahead[layer.ranks][runs]
    return Requests(
        at,
        rows[runs],
        (rows * len(ahead) + layer.ranks)[runs],
        layer.ranks[runs],
        offsets if is_known.all() else np.where(is_known, offsets, -1),
        lengths,
        trace.starts[at] - late,
        trace.ends[at] - late,
    ), _by_log(trace.logs[odd], trace.ops[odd], len(latest))


def _call_ends(mpiio: _Layer, ahead: Floats, calls: Calls, files: Files) -> Floats:
    """When the collective call of each request of MPI-IO ended, or itself where no call is known.

    Calls are known of files on which there were collective calls alone, and as many by each rank that the trace has.
    """
    trace, groups, order = mpiio.ordered.trace, mpiio.ordered.groups, mpiio.ordered.order
    ends = trace.ends - np.repeat(ahead[mpiio.ranks], trace.counts)
    sizes = group_sizes(order.firsts, len(order.groups))
    rows = groups.rows[order.groups[order.firsts]]
    least, most = np.full(len(groups.ops), len(ends)), np.zeros(len(groups.ops), np.int64)
    np.minimum.at(least, rows, sizes)
    np.maximum.at(most, rows, sizes)
    of_rows = _rows(mpiio, files)
    pieces = np.flatnonzero(((calls.collective > 0) & (calls.other == 0))[of_rows][rows] & (least == most)[rows])
    if len(pieces):
        call_of, call_count = grouped_calls(rows[pieces], sizes[pieces])
        at = np.arange(len(ends))[order.at][np.repeat(order.firsts[pieces], sizes[pieces]) + turns(sizes[pieces])]
        last = np.full(call_count, -np.inf)
        np.fmax.at(last, call_of, ends[at])
        ends[at] = last[call_of]
    return ends


def _outer(asked: Requests, done: Requests, carried: Integers, carrier_of: Integers, are_matched: Flags) -> Moves:
    """What was asked for through MPI-IO by its carriers, and what ranks moved on other files by themselves.

    Args:
        asked: requests of MPI-IO.
        done: requests of POSIX.
        carried: for each of MPI-IO the one of POSIX that carried it, negative where that is not known.
        carrier_of: carrier of each rank where it moves bytes by itself.
        are_matched: whether carriers are known by what they carried, for each rank; of others only what POSIX did is known.
    """
    if not are_matched.all():
        is_matched = are_matched[asked.ranks]
        asked, carried = asked.where(is_matched), carried[is_matched]
    is_known = carried >= 0
    others = done.where(~np.isin(done.rows // len(OPS), asked.rows // len(OPS)))
    seconds = np.where(is_known, done.starts[carried] - asked.starts, np.nan)
    of_asked = _moves(asked, np.where(is_known, done.ranks[carried], -1), np.full(len(carried), -1), seconds)
    both = [of_asked, _unmatched(others, carrier_of)]
    return Moves._make(np.concatenate(columns) for columns in zip(*both, strict=True)) if len(others.at) else of_asked


def _unmatched(requests: Requests, carrier_of: Integers) -> Moves:
    """Requests of ranks by the carriers that these are known to have, which have sizes alone."""
    count = len(requests.at)
    return _moves(requests, carrier_of[requests.ranks], np.full(count, -1), np.full(count, np.nan))


def _moves(requests: Requests, carrier_of: Integers, places: Integers | Indices, seconds: Floats) -> Moves:
    short = [requests.rows % len(OPS), requests.ranks, carrier_of, places, requests.rows // len(OPS)]
    return Moves._make([*(column.astype(np.int32) for column in short), requests.starts, requests.lengths, seconds])


def _inner(
    tables: Tables, lustre: Lustre, done: Requests, carrier_of: Integers, files: Files
) -> tuple[Moves, tuple[Integers, list[str | None], Integers]]:
    """What was moved by the places that it went to; and of these the OST or mount that each is, and its log."""
    names, name_of = mounts_of(tables, files.file_ids)
    number_of: dict[tuple[int, int], int] = {}
    keys = zip(files.logs.tolist(), name_of.tolist(), strict=True)
    mount_of = np.array([number_of.setdefault(key, len(number_of)) for key in keys], np.int64)
    places, osts, seconds = mount_of[done.rows // len(OPS)], np.empty(0, np.int64), done.ends - done.starts
    log_count = int(files.logs[-1]) + 1
    if lustre.is_known and len(done.at):
        layouts = lustre.layouts
        done, slots, seconds = _parted(layouts, np.searchsorted(lustre.file_ids, files.file_ids), done)
        osts = np.array(sorted(place for place in layouts.places if isinstance(place, int)), np.int64)
        of_place = np.array([place if isinstance(place, int) else -1 for place in layouts.places], np.int64)
        of_slots = np.where(of_place >= 0, np.searchsorted(osts, of_place), -1)[layouts.slot_places]
        places = np.where(of_slots >= 0, lustre.logs[layouts.files] * len(osts) + of_slots, -1)[slots]
        if (is_elsewhere := places < 0).any():
            places[is_elsewhere] = log_count * len(osts) + mount_of[done.rows[is_elsewhere] // len(OPS)]
    # OSTs of all logs, and then mounts.
    logs = np.append(np.repeat(np.arange(log_count), len(osts)), [log for log, _ in number_of])
    used = np.flatnonzero(np.bincount(places, minlength=len(logs)))
    used = used[np.argsort(logs[used], kind="stable")]
    moves = _moves(done, carrier_of[done.ranks], numbers(used, len(logs))[places], seconds)
    osts = np.append(np.tile(osts, log_count), np.full(len(number_of), -1))[used]
    mounts = [*[None] * (len(logs) - len(number_of)), *(names[mount] for _, mount in number_of)]
    return moves, (osts, [mounts[place] for place in used.tolist()], logs[used])


def numbers(used: Integers, total: int) -> npt.NDArray[np.int32]:
    """For each of so many things its number among those that are used, -1 for others, and for the one before the first."""
    found = np.full(total + 1, -1, np.int32)
    found[used] = np.arange(len(used))
    return found


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


def _carriers(
    outer: Moves, inner: Moves, carrier_of: Integers, rank_logs: Integers, host_logs: Integers
) -> tuple[Integers, Floats]:
    """Carriers of each log in the order of the ranks that they serve, and where these lie on average.

    0 is the first rank of the log, 1 the last.
    """
    count = int(carrier_of.max()) + 1
    # Each rank once for each of its carriers; what a rank did by itself says where it is if it serves no other.
    keys = distinct((outer.ranks.astype(np.int64) * count + outer.carriers)[outer.carriers >= 0])
    ranks, served = np.divmod(keys, count)
    own_ranks = distinct(inner.ranks)
    own = carrier_of[own_ranks]
    used = np.union1d(served, own)
    in_log = np.bincount(rank_logs)
    nth = turns(in_log)
    sums, counts = np.bincount(served, nth[ranks], count), np.bincount(served, minlength=count)
    own_sums, own_counts = np.bincount(own, nth[own_ranks], count), np.bincount(own, minlength=count)
    is_serving = counts > 0
    sums, counts = np.where(is_serving, sums, own_sums)[used], np.where(is_serving, counts, own_counts)[used]
    logs = np.concatenate([rank_logs, host_logs])[used]
    positions = sums / counts / np.maximum(in_log - 1, 1)[logs]
    order = np.lexsort((positions, logs))
    return used[order], positions[order]
