"""How many of a layer's requests would be left if forwarders gathered them, each those of some ranks.

A forwarder holds the requests of one file and direction for a window, merges what touches or overlaps, and sends it on in
pieces that end at multiples of a cap. A window is a time, or a *tick*: the k-th request of each rank on the file, which is
what a collective call would see. After I/O forwarding (Jones et al., IOFSL) and two-phase I/O (ROMIO).

In a tick only requests of different ranks are merged, which blocking calls allow. In a time a rank's own are merged too:
that needs a program, or a library, that writes behind or reads ahead.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from iomine.derive.batch import LOG, logs_in, of_each_log
from iomine.derive.columns import TOO_MANY, counts, labels, stacked
from iomine.derive.file_names import mounts_of
from iomine.derive.order import Ordered
from iomine.derive.overlaps import stripe_layouts
from iomine.derive.ranks import hosts_of
from iomine.derive.sorting import order_by
from iomine.derive.trace import Flags, Floats, Integers, Tables, grouped, turns
from iomine.schema.column import Column, as_arrow
from iomine.schema.ops import OPS, WRITE
from iomine.units import KIB, MIB

# Instead of seconds: a window that holds the k-th request of each rank.
TICK: Final = "tick"
Window = float | str

# A Lustre RPC, and the stripe of a file without a layout.
CAP_BYTES: Final = 4 * MIB
STRIPE_BYTES: Final = MIB
WINDOWS: Final[tuple[Window, ...]] = (TICK, 0.01, 1.0)
MAPPINGS: Final = ("host", "blocks", "aggregators")
MODES: Final = ("blocking", "write_behind", "read_ahead", "at_most")
_BLOCKING, _WRITE_BEHIND, _READ_AHEAD, _AT_MOST = range(len(MODES))
ACCESSES: Final = ("own", "shared")
_STRIPE_EVIDENCE: Final = ("layout", "assumed")

# Ranks to a forwarder: on the machines of the IOFSL paper, and in its largest run.
_RANKS_TO_ONE: Final = (12, 298)
_FEWEST_REQUESTS: Final = 100
# A library can read ahead only if this share of the reads is consecutive or strided.
_MOST: Final = 0.9
_AHEAD: Final = ("consecutive", "strided")
_MOST_WINDOWS: Final = 1 << 40
_INTEGERS_END: Final = 1 << 62
# More ranks than any machine has.
_MOST_RANKS: Final = 1 << 24

# What one request costs: that of small ones in which there is next to no waiting.
_SMALL_BYTES: Final = 64 * KIB
_PERCENTILE: Final = 10
_CACHE_SECONDS: Final = 1e-5
REASONS: Final = (
    "Fewer than 100 of its requests have at most 64 KiB.",
    "Its small requests take at most 10 us, as from a page cache.",
)


class Requests(NamedTuple):
    """Requests of a layer that move something and whose place is known, by file and direction, then offset.

    Attributes:
        rows: file and direction of each, ascending; an index into the three below.
        ranks: rank of each.
        begins: where in the file each starts.
        ends: where it ends.
        starts: when each started, in seconds since the start of the run.
        seconds: how long each took, as traced.
        ticks: how many requests its rank made on the file in that direction before.
        made: indices of all, by row and rank, then in the order in which they were made.
        file_ids: file of each row.
        ops: direction of each row, an index into `OPS`.
        logs: log of each row.
        stripes: bytes of a stripe of the file of each row.
        has_layout: whether these are those of the file's layout, for each row.
        is_shared: whether several ranks touch the file of each row.
    """

    rows: Integers
    ranks: Integers
    begins: Integers
    ends: Integers
    starts: Floats
    seconds: Floats
    ticks: Integers
    made: Integers
    file_ids: Integers
    ops: Integers
    logs: Integers
    stripes: Integers
    has_layout: Flags
    is_shared: Flags

    def of_rows(self, are_wanted: Flags) -> "Requests":
        """The requests of some rows."""
        is_wanted = are_wanted[self.rows]
        if is_wanted.all():
            return self
        of_requests = self._fields[: self._fields.index("made")]
        made = (np.cumsum(is_wanted) - 1)[self.made[is_wanted[self.made]]]
        return self._replace(made=made, **{name: getattr(self, name)[is_wanted] for name in of_requests})

    def with_stripes(self, stripe_bytes: int) -> "Requests":
        """The same requests on files with other stripes."""
        return self._replace(stripes=np.full_like(self.stripes, stripe_bytes), has_layout=np.ones_like(self.has_layout))


class Forwarders(NamedTuple):
    """Which forwarder takes a rank's requests.

    Attributes:
        mapping: how ranks go to forwarders, an index into `MAPPINGS`.
        total: forwarders.
        of_rank: forwarder of each rank from 0 on.
    """

    mapping: int
    total: int
    of_rank: Integers


class Gathering(NamedTuple):
    """How requests are gathered.

    Attributes:
        forwarders: which forwarder takes which.
        window: seconds for which a forwarder holds requests, or `TICK`.
        cap_bytes: most bytes that it sends on at once.
    """

    forwarders: Forwarders
    window: Window
    cap_bytes: int


class Ways(NamedTuple):
    """Ways to gather: each choice of forwarders combined with each window.

    Attributes:
        forwarders: which forwarders take which ranks; None for those of the table.
        windows: seconds, or `TICK`.
        cap_bytes: most bytes that are sent on at once.
        stripe_bytes: of all files; None for those of their layouts.
    """

    forwarders: Sequence[Forwarders] | None = None
    windows: tuple[Window, ...] = WINDOWS
    cap_bytes: int = CAP_BYTES
    stripe_bytes: int | None = None


_OF_TABLE: Final = Ways()


class Left(NamedTuple):
    """What is left of requests, group by group.

    Attributes:
        request_count: requests, one that is longer than the cap as so many as it fills.
        left_count: what forwarders send on, in pieces up to the cap.
        moved_bytes: bytes of the requests.
        left_bytes: bytes that forwarders send on; what is moved twice within a window is sent once.
        aligned_count: requests that start on a stripe.
        left_aligned_count: pieces that do.
        stripe_client_count: distinct pairs of stripe and rank.
        left_stripe_client_count: distinct pairs of stripe and forwarder.
        stripe_count: distinct stripes.
        touched_bytes: bytes that are moved at all, each once.
        held_bytes: the most that one forwarder holds in a window; None where the window is a tick, in which ranks wait.
    """

    request_count: Integers
    left_count: Integers
    moved_bytes: Integers
    left_bytes: Integers
    aligned_count: Integers
    left_aligned_count: Integers
    stripe_client_count: Integers
    left_stripe_client_count: Integers
    stripe_count: Integers
    touched_bytes: Integers
    held_bytes: Integers | None


def requests_of(ordered: Ordered, tables: Tables) -> Requests:
    """The requests of a layer's trace that can be placed.

    Files with an unknown offset in their trace are left out, since nobody knows what such a request touches.

    Args:
        ordered: the trace.
        tables: columns by table, in one or more parts; the layouts of files among them.
    """
    order, groups = ordered.filled, ordered.groups
    row_count = len(groups.file_ids)
    is_unknown = np.bincount(groups.rows, order.unknown(len(groups.ranks)), row_count) > 0
    rows = groups.rows[order.groups]
    at = np.flatnonzero(~is_unknown[rows])
    ticks = np.arange(len(rows)) - np.repeat(order.firsts, np.diff(order.firsts, append=len(rows)))
    by_offset = order_by(rows[at], order.begins[at])
    at = at[by_offset]
    made = np.empty_like(at)
    made[by_offset] = np.arange(len(at))
    file_numbers = np.unique(groups.file_ids, return_inverse=True)[1]
    of_pairs = file_numbers[groups.rows]
    pairs = of_pairs[grouped(of_pairs, groups.ranks)[0]]
    stripes, has_layout = _stripes(groups.file_ids, tables)
    starts, ends = (column[order.at][at] for column in (ordered.trace.starts, ordered.trace.ends))
    with np.errstate(invalid="ignore", over="ignore"):
        seconds = ends - starts
    return Requests(
        rows[at],
        groups.ranks[order.groups[at]],
        order.begins[at],
        order.ends[at],
        starts,
        seconds,
        ticks[at],
        made,
        groups.file_ids,
        groups.ops,
        groups.logs,
        stripes,
        has_layout,
        (np.bincount(pairs) > 1)[file_numbers],
    )


def _stripes(file_ids: Integers, tables: Tables) -> tuple[Integers, Flags]:
    """Bytes of a stripe of each file, the largest of its components, and whether a layout says so."""
    layouts = stripe_layouts(tables)
    if layouts is None:
        return np.full(len(file_ids), STRIPE_BYTES), np.zeros(len(file_ids), dtype=bool)
    order = np.lexsort((layouts.sizes, layouts.file_ids))
    ids, sizes = layouts.file_ids[order], layouts.sizes[order]
    last = np.searchsorted(ids, file_ids, side="right") - 1
    is_there = (last >= 0) & (ids[last] == file_ids)
    return np.where(is_there, sizes[last], STRIPE_BYTES), is_there


def by_blocks(nprocs: int, count: int) -> Forwarders:
    """Forwarders that take equal blocks of ranks each: `rank * count // nprocs`."""
    return Forwarders(MAPPINGS.index("blocks"), count, np.arange(nprocs) * count // nprocs)


def by_host(nprocs: int, tables: Tables) -> Forwarders | None:
    """A forwarder on each host; None where the host of a rank is not known."""
    return _by_hosts(np.array([nprocs]), tables)[0]


def _by_hosts(nprocs: Integers, tables: Tables) -> list[Forwarders | None]:
    """A forwarder on each host, for each log."""
    hosts, _ = hosts_of(turns(nprocs), tables, np.repeat(np.arange(len(nprocs)), nprocs))
    found: list[Forwarders | None] = []
    for of_ranks in np.split(hosts, np.cumsum(nprocs)[:-1]):
        used, of_rank = np.unique(of_ranks, return_inverse=True)
        is_known = len(used) and used[0] >= 0
        found.append(Forwarders(MAPPINGS.index("host"), len(used), of_rank) if is_known else None)
    return found


def by_aggregators(nprocs: int, ranks: Sequence[int]) -> Forwarders:
    """Each of some ranks is a forwarder, for itself and the ranks up to the next."""
    ends = np.unique(ranks)
    of_rank = np.searchsorted(ends, np.arange(nprocs), side="right") - 1
    return Forwarders(MAPPINGS.index("aggregators"), len(ends), np.maximum(of_rank, 0))


def coalesced(requests: Requests, groups: Integers, gathering: Gathering) -> Left:
    """What forwarders leave of requests.

    Args:
        requests: the requests.
        groups: for each of their rows the group that it counts in, from 0.
        gathering: how they are gathered.
    """
    (left,) = _lefts(requests, groups, [gathering.forwarders], Ways(windows=(gathering.window,), cap_bytes=gathering.cap_bytes))
    return left


def _lefts(requests: Requests, groups: Integers, choices: Sequence[Forwarders], ways: Ways) -> list[Left]:
    """What is left for each choice of forwarders, and for each window of the ways."""
    files = _Files(requests.stripes, groups, ways.cap_bytes)
    touched = _stripes_touched(requests)
    before = _before(requests, touched, files)
    pairs = [_stripe_clients(touched, choice.of_rank[touched.ranks], files) for choice in choices]
    # Of a long trace these take as much memory as its requests, and so does what meets in each window.
    del touched
    whole = files.sent(requests.rows, requests.begins, requests.ends)
    kinds = files.joint_kinds(requests)
    made = _made(requests)

    def within(window: Window) -> list[Left]:
        windows = _windows(requests, window)
        held = None if window == TICK else _held(made, windows[requests.made], groups)
        joints, tangled = _met(requests, _combined(requests.rows, windows), kinds)
        apart = whole - files.sent(tangled.rows, tangled.begins, tangled.ends)
        # A tick has one request of each rank.
        tangled = tangled if window == TICK else tangled.of_ranks()

        def left(of_rank: Integers, stripe_clients: Integers) -> Left:
            sent = apart - joints.spared(of_rank, len(before.stripe_count))
            if len(tangled.rows):
                sent += files.gathered(tangled, of_rank)
            return _left(before, stripe_clients, sent, None if held is None else held.most(of_rank))

        return [left(choice.of_rank, of_choice) for choice, of_choice in zip(choices, pairs, strict=True)]

    return [left for of_choice in zip(*map(within, ways.windows), strict=True) for left in of_choice]


class _Before(NamedTuple):
    """What does not depend on forwarders, by group."""

    request_count: Integers
    moved_bytes: Integers
    aligned_count: Integers
    stripe_client_count: Integers
    stripe_count: Integers
    touched_bytes: Integers


def _left(before: _Before, stripe_clients: Integers, sent: Integers, held: Integers | None) -> Left:
    left_count, left_bytes, left_aligned_count = sent
    return Left(
        before.request_count,
        left_count,
        before.moved_bytes,
        left_bytes,
        before.aligned_count,
        left_aligned_count,
        before.stripe_client_count,
        stripe_clients,
        before.stripe_count,
        before.touched_bytes,
        held,
    )


class _Files(NamedTuple):
    """What is known of each row of the requests, and how much of it is sent at once.

    Attributes:
        stripes: bytes of a stripe.
        groups: the group that it counts in.
        cap_bytes: most bytes that are sent at once.
    """

    stripes: Integers
    groups: Integers
    cap_bytes: int

    def sums(self, rows: Integers, *values: npt.NDArray[Any]) -> Integers:
        """Whole sums of values of rows, of each kind by group."""
        of_group = self.groups[rows]
        sums = np.zeros((len(values), _total(self.groups)), np.int64)
        for one, of_rows in zip(sums, values, strict=True):
            # Values of another type would be converted to this one by one.
            np.add.at(one, of_group, of_rows.astype(np.int64, copy=False))
        return sums

    def sent(self, rows: Integers, begins: Integers, ends: Integers) -> Integers:
        """What is sent of ranges of files that do not touch: pieces, their bytes, and how many start on a stripe, by group."""
        firsts, lasts = begins // self.cap_bytes, (ends - 1) // self.cap_bytes
        # The first piece starts where the range does, all others at multiples of the cap.
        steps = _each(self.stripes // np.gcd(self.stripes, self.cap_bytes), rows)
        aligned = (begins % _each(self.stripes, rows) == 0) + (lasts // steps - firsts // steps)
        return self.sums(rows, lasts - firsts + 1, ends - begins, aligned)

    def gathered(self, ranges: "_Ranges", of_rank: Integers) -> Integers:
        """What forwarders send of ranges."""
        at, begins, ends = ranges.merged(of_rank[ranges.ranks])
        return self.sent(ranges.rows[at], begins, ends)

    def joint_kinds(self, requests: Requests) -> Integers:
        """The kind of the joint where each request begins, see `_Joints`; negative where a piece ends anyway, at the cap."""
        is_aligned = requests.begins % _each(self.stripes, requests.rows) == 0
        return np.where(requests.begins % self.cap_bytes, 2 * self.groups[requests.rows] + is_aligned, -1)


class _Ranges(NamedTuple):
    """Ranges of files, by cell and then by where they begin; of one cell only those are merged that have the same client.

    Attributes:
        rows: row of each.
        ranks: rank of each.
        cells: cell of each, ascending.
        begins: where it begins.
        ends: where it ends.
    """

    rows: Integers
    ranks: Integers
    cells: Integers
    begins: Integers
    ends: Integers

    def merged(self, clients: Integers) -> tuple[Integers, Integers, Integers]:
        """Those of one client that touch or overlap as one, by client and then in order.

        Returns:
            Index of the first range of each, where it begins, and where it ends.
        """
        is_other = _differs(clients) | _differs(self.cells)
        is_other[:1] = True
        # Often ranks of one client touch the same, one after the other.
        is_other[1:] |= self.ends[1:] > self.ends[:-1]
        at = np.flatnonzero(is_other)
        # Sorting keeps the order of each client's.
        at = at[order_by(clients[at])]
        firsts, begins, ends = _extents(_differs(clients[at]) | _differs(self.cells[at]), self.begins[at], self.ends[at])
        return at[firsts], begins, ends

    def of_ranks(self) -> "_Ranges":
        """Those of one rank that touch or overlap as one."""
        at, begins, ends = self.merged(self.ranks)
        if len(at) == len(self.rows):
            return self
        back = order_by(at)
        at = at[back]
        return _Ranges(self.rows[at], self.ranks[at], self.cells[at], begins[back], ends[back])


def _stripes_touched(requests: Requests) -> _Ranges:
    """The stripes of each file that each rank touches in all of the run."""
    stripes = _each(requests.stripes, requests.rows)
    ends = (requests.ends - 1) // stripes + 1
    return _Ranges(requests.rows, requests.ranks, requests.rows, requests.begins // stripes, ends).of_ranks()


def _stripe_clients(touched: _Ranges, clients: Integers, files: _Files) -> Integers:
    """Distinct pairs of stripe and client, by group."""
    at, begins, ends = touched.merged(clients)
    counts: Integers = files.sums(touched.rows[at], ends - begins)[0]
    return counts


def _before(requests: Requests, touched: _Ranges, files: _Files) -> _Before:
    """Counts of requests."""
    rows, lengths = requests.rows, requests.ends - requests.begins
    is_aligned = requests.begins % _each(requests.stripes, rows) == 0
    firsts, begins, ends = _extents(_differs(rows), requests.begins, requests.ends)
    request_count, moved_bytes, aligned_count = files.sums(rows, -(-lengths // files.cap_bytes), lengths, is_aligned)
    return _Before(
        request_count,
        moved_bytes,
        aligned_count,
        files.sums(touched.rows, touched.ends - touched.begins)[0],
        _stripe_clients(touched, np.zeros_like(touched.ranks), files),
        files.sums(rows[firsts], ends - begins)[0],
    )


class _Joints(NamedTuple):
    """Where one request of a cell begins and one other ends, with which it is one if one forwarder has both.

    Attributes:
        kinds: twice the group of each, and one more where it is a boundary of a stripe.
        befores: rank whose request ends.
        afters: rank whose request begins.
        counts: how many there are.
    """

    kinds: Integers
    befores: Integers
    afters: Integers
    counts: Integers

    def spared(self, of_rank: Integers, group_count: int) -> Integers:
        """What forwarders do not send as they have both, in the order of `_Files.sent`."""
        sums = np.zeros((group_count, 2), np.int64)
        np.add.at(sums.reshape(-1), self.kinds, self.counts * (of_rank[self.befores] == of_rank[self.afters]))
        return np.array([sums.sum(axis=1), np.zeros(group_count, np.int64), sums[:, 1]])


def _met(requests: Requests, cells: Integers, kinds: Integers) -> tuple[_Joints, _Ranges]:
    """Joints where two requests touch and nothing overlaps, which are most; and requests that overlap, with those touching them.

    Args:
        requests: the requests.
        cells: number of row and window of each, ascending with the row.
        kinds: kind of the joint where it begins.
    """
    order = order_by(cells)
    is_new = _differs(cells[order])
    begins, ends = requests.begins[order], requests.ends[order]
    most = _running_most(ends, is_new)
    # Of each and the one before it, of which the first and the last have none.
    overlaps, touches = np.zeros((2, len(order) + 1), bool)
    overlaps[1:-1] = ~is_new[1:] & (begins[1:] < most[:-1])
    touches[1:-1] = ~is_new[1:] & (begins[1:] == most[:-1])
    is_clear = ~(overlaps[1:] | overlaps[:-1])
    is_joint = touches[:-1] & is_clear
    is_joint[1:] &= is_clear[:-1]
    is_tangled = ~is_clear | (touches[:-1] & ~is_joint)
    is_tangled[:-1] |= touches[1:-1] & ~is_joint[1:]
    at = np.flatnonzero(is_tangled)
    # Between these and what does not touch them, numbers of cells differ: a joint is not merged.
    tangled = _Ranges(
        requests.rows[order[at]],
        requests.ranks[order[at]],
        np.cumsum(~(overlaps | touches)[:-1] | is_joint, dtype=np.int64)[at],
        begins[at],
        ends[at],
    )
    at = np.flatnonzero(is_joint)
    of_joints = kinds[order[at]]
    at, of_joints = at[of_joints >= 0], of_joints[of_joints >= 0]
    befores, afters = requests.ranks[order[at - 1]], requests.ranks[order[at]]
    keys = _combined(_combined(of_joints, befores), afters)
    order = order_by(keys)
    firsts, counts = _summed(_differs(keys[order]), np.ones_like(order))
    at = order[firsts]
    return _Joints(of_joints[at], befores[at], afters[at], counts), tangled


class _Made(NamedTuple):
    """Requests by row and rank, then in the order in which they were made.

    Attributes:
        rows: row of each.
        ranks: rank of each.
        lengths: its bytes.
        is_next: whether its row or rank differs from that of the one before.
    """

    rows: Integers
    ranks: Integers
    lengths: Integers
    is_next: Flags


def _made(requests: Requests) -> _Made:
    rows, ranks = requests.rows[requests.made], requests.ranks[requests.made]
    return _Made(rows, ranks, (requests.ends - requests.begins)[requests.made], _differs(rows) | _differs(ranks))


class _Held(NamedTuple):
    """What ranks have a forwarder hold in each window, by group, window and rank.

    Attributes:
        is_new: whether the group or window of each differs from that of the one before.
        ranks: rank of each.
        bytes: its bytes.
        groups: group of each.
        least: bytes of each group that a forwarder holds at least.
    """

    is_new: Flags
    ranks: Integers
    bytes: Integers
    groups: Integers
    least: Integers

    def most(self, of_rank: Integers) -> Integers:
        """The most bytes of each group that one forwarder gets in one window."""
        forwarders = of_rank[self.ranks]
        # Neighbours come first: where ranks of a forwarder follow one another, that is all.
        at, sums = _summed(self.is_new | _differs(forwarders), self.bytes)
        keys = _combined(np.cumsum(self.is_new, dtype=np.int64)[at], forwarders[at])
        order = order_by(keys)
        firsts, sums = _summed(_differs(keys[order]), sums[order])
        most = self.least.copy()
        np.maximum.at(most, self.groups[at[order[firsts]]], sums)
        return most


def _held(made: _Made, windows: Integers, groups: Integers) -> _Held:
    """What a forwarder holds: all files of a group at once.

    Args:
        made: the requests.
        windows: window of each.
        groups: group of each row.
    """
    firsts, sums = _summed(made.is_next | _differs(windows), made.lengths)
    of_group, ranks = groups[made.rows[firsts]], made.ranks[firsts]
    least = np.zeros(_total(groups), np.int64)
    np.maximum.at(least, of_group, sums)
    cells = _combined(of_group, windows[firsts])
    order = order_by(cells, ranks)
    firsts, totals = _summed(_differs(cells[order]), sums[order])
    # A window is skipped if all ranks move no more in it than one rank moves in some window: no forwarder holds the most there.
    is_full = totals > least[of_group[order[firsts]]]
    if not is_full.all():
        order = order[np.repeat(is_full, np.diff(firsts, append=len(order)))]
    cells = cells[order]
    return _Held(_differs(cells), ranks[order], sums[order], of_group[order], least)


def _summed(is_new: Flags, values: Integers) -> tuple[Integers, Integers]:
    """Index of the first value of each stretch that begins with a new one, and the sum of its values."""
    firsts = np.append(0, np.flatnonzero(is_new))[: len(values)]
    return firsts, np.add.reduceat(values, firsts) if len(firsts) else firsts


def _windows(requests: Requests, window: Window) -> Integers:
    """Number of the window of each request, from 0."""
    if isinstance(window, str):
        return requests.ticks
    with np.errstate(invalid="ignore", over="ignore"):
        numbers = np.floor(requests.starts / window)
    is_known = np.abs(numbers) < _MOST_WINDOWS
    if not is_known.all():
        # Requests with an unknown start are held with those of their log that started first.
        logs = requests.logs[requests.rows]
        firsts = np.full(int(logs.max()) + 1, float(_MOST_WINDOWS))
        np.minimum.at(firsts, logs[is_known], numbers[is_known])
        numbers = np.where(is_known, numbers, firsts[logs])
    found: Integers = numbers.astype(np.int64)
    found -= found.min(initial=_MOST_WINDOWS)
    return found


def _combined(major: Integers, minor: Integers) -> Integers:
    """One number for both of each row, in the order of the first and then of the second.

    Args:
        major: numbers from 0 on.
        minor: likewise.
    """
    if (int(major.max(initial=0)) + 1) * (int(minor.max(initial=0)) + 1) > _INTEGERS_END:
        # Their order is used instead of the numbers.
        major, minor = (np.unique(numbers, return_inverse=True)[1] for numbers in (major, minor))
    combined: Integers = major * (minor.max(initial=0) + 1) + minor
    return combined


def _differs(values: Integers) -> Flags:
    """Whether each value differs from the one before it."""
    differs = np.zeros(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=differs[1:])
    return differs


def _extents(is_new: Flags, begins: Integers, ends: Integers) -> tuple[Integers, Integers, Integers]:
    """Ranges of one key that touch or overlap as one; they come by key, and then by where they begin.

    Args:
        is_new: whether the key of each range, but for the first, differs from that of the one before.
        begins: where each begins.
        ends: where each ends.

    Returns:
        Index of the first range of each, where it begins, and where it ends.
    """
    most = _running_most(ends, is_new)
    is_first = is_new.copy()
    is_first[:1] = True
    is_first[1:] |= begins[1:] > most[:-1]
    firsts = np.flatnonzero(is_first)
    return firsts, begins[firsts], most[np.append(firsts[1:], len(most))[: len(firsts)] - 1]


def _running_most(values: Integers, is_new: Flags) -> Integers:
    """The most up to each place since the last new one; values are not negative."""
    if not (~is_new[1:] & (values[1:] < values[:-1])).any():
        return values
    keys = np.cumsum(is_new)
    step = int(values.max()) + 1
    if step * (int(keys[-1]) + 1) >= _INTEGERS_END:
        # Their order is used instead of the values.
        distinct, places = np.unique(values, return_inverse=True)
        most: Integers = distinct[_running_most(places, is_new)]
        return most
    shifts = keys * step
    shifted: Integers = np.maximum.accumulate(values + shifts) - shifts
    return shifted


def _each(of_rows: Integers, rows: Integers) -> Integers | np.int64:
    """The value of each row; if all are equal, that one value, by which NumPy divides much faster."""
    return of_rows[0] if len(of_rows) and (of_rows == of_rows[0]).all() else of_rows[rows]


def _total(groups: Integers) -> int:
    return int(groups.max(initial=-1)) + 1


def request_costs(requests: Requests, groups: Integers) -> tuple[Floats, Integers]:
    """Seconds that one request costs beside what its bytes do: the 10th percentile of those of at most 64 KiB, by group.

    These have the least of transfer and waiting in them. It is an estimate.

    Args:
        requests: the requests.
        groups: for each of their rows the group that it counts in, from 0.

    Returns:
        The cost, NaN where it is not known, and why not: an index into `REASONS`, negative where it is known.
    """
    of_request, seconds = groups[requests.rows], requests.seconds
    is_small = (requests.ends - requests.begins <= _SMALL_BYTES) & (seconds >= 0) & (seconds < TOO_MANY)
    at = np.flatnonzero(is_small)
    at = at[order_by(of_request[at])]
    in_group = np.bincount(of_request[at], minlength=_total(groups))
    costs = np.full(len(in_group), np.nan)
    is_enough = in_group >= _FEWEST_REQUESTS
    for group, end in zip(np.flatnonzero(is_enough).tolist(), np.cumsum(in_group)[is_enough].tolist(), strict=True):
        # The nearest rank: the least value that a tenth are not above.
        place = -(-int(in_group[group]) * _PERCENTILE // 100) - 1
        costs[group] = np.partition(seconds[at[end - in_group[group] : end]], place)[place]
    is_cached = costs <= _CACHE_SECONDS
    costs[is_cached] = np.nan
    return costs, np.where(is_cached, 1, np.where(is_enough, -1, 0))


def coalescing(
    tables: Tables,
    traces: Sequence[Ordered],
    nprocs: Integers | int,
    transforms: Mapping[str, Any],
    runs: Mapping[str, Any],
    *,
    ways: Ways = _OF_TABLE,
) -> dict[str, Column]:
    """Rows of the table `coalescing`; no columns where there are no rows.

    Files count together that lie on one mount and are touched by one rank each, or by several. A row is left out where a
    layer made fewer than 100 requests of them in its direction, and where forwarders leave as many.

    Args:
        tables: columns by table, in one or more parts.
        traces: the traces in these.
        nprocs: processes of the run, or of each log's.
        transforms: columns of the table `mpiio_posix`.
        runs: columns of the table `access_run`.
        ways: how requests are gathered; the table's own unless others are given.
    """
    parts = (_of_layer(tables, ordered, of_each_log(nprocs), transforms, runs, ways=ways) for ordered in traces)
    return stacked([part for part in parts if part])


def _of_layer(
    tables: Tables, ordered: Ordered, nprocs: Integers, transforms: Mapping[str, Any], runs: Mapping[str, Any], *, ways: Ways
) -> dict[str, Column]:
    layer, trace = ordered.trace.layer, ordered.trace
    is_asked = np.bincount(trace.logs, trace.counts, len(nprocs)) >= _FEWEST_REQUESTS
    is_asked[trace.logs[(trace.ranks < 0) | (trace.ranks >= nprocs[trace.logs])]] = False
    is_asked &= nprocs <= _MOST_RANKS
    if not is_asked.any():
        return {}
    nprocs = np.where(is_asked, nprocs, 0)
    requests = requests_of(ordered, tables)
    requests = requests.of_rows(is_asked[requests.logs])
    # Ranks of all logs are numbered through.
    requests = requests._replace(ranks=requests.ranks + (np.cumsum(nprocs) - nprocs)[requests.logs][requests.rows])
    if ways.stripe_bytes is not None:
        requests = requests.with_stripes(ways.stripe_bytes)
    mounts, mount_of = mounts_of(tables, requests.file_ids)
    # Mounts of each log in the order of its files.
    _, first_rows, key_of = np.unique(requests.logs * len(mounts) + mount_of, return_index=True, return_inverse=True)
    firsts, groups = grouped(first_rows[key_of], requests.is_shared.astype(np.int64), requests.ops)
    starts = np.bincount(groups[requests.rows], minlength=len(firsts))
    is_enough = starts >= _FEWEST_REQUESTS
    if not is_enough.any():
        return {}
    choices = _joined([ways.forwarders] if ways.forwarders else _choices(tables, nprocs, transforms), nprocs)
    lefts = _lefts(requests, groups, [choice.forwarders for choice in choices], ways)
    logs = requests.logs[firsts]
    totals = np.array([choice.totals for choice in choices])
    changes = np.array([is_enough & (left.left_count < left.request_count) for left in lefts])
    numbers, rows = (changes & np.repeat(totals[:, logs] > 0, len(ways.windows), axis=0)).nonzero()
    if not len(rows):
        return {}
    chosen, windows = np.divmod(numbers, len(ways.windows))
    is_tick = np.array([window == TICK for window in ways.windows])[windows]
    costs, reasons = request_costs(requests, groups)
    is_ahead = _ahead(layer, requests, groups, runs)
    in_time = np.where(requests.ops[firsts] == WRITE, _WRITE_BEHIND, np.where(is_ahead, _READ_AHEAD, _AT_MOST))
    has_layout = np.bincount(groups, ~requests.has_layout) == 0
    at = firsts[rows]
    is_mounted = np.array([mount is not None for mount in mounts])[mount_of]
    # Each measure of all ways to gather, of which those that change something are taken.
    found = {
        name: np.array([np.zeros(len(firsts), np.int64) if one is None else one for one in column])[numbers, rows]
        for name, column in zip(Left._fields, zip(*lefts, strict=True), strict=True)
    }
    left_count, request_count = found["left_count"], found["request_count"]
    saved = (request_count - left_count) * costs[rows]
    return {
        LOG: Column(logs[rows]),
        "layer": labels(np.zeros(len(rows), np.int64), [layer]),
        "mount": labels(np.where(is_mounted, mount_of, -1)[at], [mount or "" for mount in mounts]),
        "access": labels(requests.is_shared[at].astype(np.int64), ACCESSES),
        "op": labels(requests.ops[at], OPS),
        "mapping": labels(np.array([choice.mappings for choice in choices])[chosen, logs[rows]], MAPPINGS),
        "forwarder_count": Column(totals[chosen, logs[rows]]),
        "window_seconds": Column(np.array([0 if window == TICK else window for window in ways.windows])[windows], mask=is_tick),
        "merge_mode": labels(np.where(is_tick, _BLOCKING, in_time[rows]), MODES),
        "file_count": Column(np.bincount(groups)[rows]),
        **{name: Column(found[name]) for name in ("request_count", "left_count")},
        "request_mean_bytes": counts(np.round(found["moved_bytes"] / request_count)),
        "left_mean_bytes": counts(np.round(found["left_bytes"] / left_count)),
        # A request that is longer than the cap counts as several, but starts once.
        "stripe_aligned_ratio": Column(found["aligned_count"] / starts[rows]),
        "left_aligned_ratio": Column(found["left_aligned_count"] / left_count),
        **{name: Column(found[name]) for name in ("stripe_client_count", "left_stripe_client_count", "stripe_count")},
        "touched_ratio": Column(found["touched_bytes"] / found["moved_bytes"]),
        "held_bytes": Column(found["held_bytes"], mask=is_tick),
        "request_cost_seconds": Column(costs[rows], mask=np.isnan(saved)),
        "gathering_core_seconds": Column(saved, mask=np.isnan(saved)),
        "cost_reason": labels(reasons[rows], REASONS),
        "stripe_evidence": labels((~has_layout[rows]).astype(np.int64), _STRIPE_EVIDENCE),
    }


class _Choice(NamedTuple):
    """Forwarders of many logs.

    Attributes:
        forwarders: of the ranks of all logs, numbered through.
        mappings: how ranks of each log go to them.
        totals: how many each log has, 0 where it has no such choice.
    """

    forwarders: Forwarders
    mappings: Integers
    totals: Integers


def _joined(of_logs: Sequence[Sequence[Forwarders]], nprocs: Integers) -> list[_Choice]:
    """First, second, and further choices of all logs together.

    Args:
        of_logs: choices of each log.
        nprocs: processes of each log's run.
    """
    nothing = [Forwarders(0, 0, np.zeros(count, np.int64)) for count in nprocs.tolist()]
    joined = []
    for nth in range(max(map(len, of_logs))):
        taken = [each[nth] if nth < len(each) else none for each, none in zip(of_logs, nothing, strict=True)]
        mappings, totals, of_rank = zip(*taken, strict=True)
        forwarders = Forwarders(0, max(totals), np.concatenate(of_rank))
        joined.append(_Choice(forwarders, np.array(mappings), np.array(totals)))
    return joined


def _choices(tables: Tables, nprocs: Integers, transforms: Mapping[str, Any]) -> list[list[Forwarders]]:
    """The choices of each log, none of one that has no processes."""
    lists: list[list[tuple[int, ...]]] = [[] for _ in nprocs]
    if transforms:
        for log, ranks in zip(logs_in(transforms).tolist(), transforms["aggregator_ranks"].to_pylist(), strict=True):
            if ranks:
                lists[log].append(tuple(map(int, ranks)))
    of_logs = zip(nprocs.tolist(), _by_hosts(nprocs, tables), lists, strict=True)
    return [_choices_of(*of_log) if of_log[0] else [] for of_log in of_logs]


def _choices_of(nprocs: int, hosts: Forwarders | None, lists: Sequence[tuple[int, ...]]) -> list[Forwarders]:
    """Possible forwarders: one per host, per so many ranks, one, each rank itself, and those of MPI-IO; each number once."""
    found = [hosts] if hosts else []
    found += [by_blocks(nprocs, count) for count in (*(-(-nprocs // ranks) for ranks in _RANKS_TO_ONE), 1, nprocs)]
    counted = Counter(sorted(lists))
    if counted and max(map(max, counted)) < nprocs:
        found.append(by_aggregators(nprocs, counted.most_common(1)[0][0]))
    distinct: dict[int, Forwarders] = {}
    for each in found:
        distinct.setdefault(each.total, each)
    return list(distinct.values())


def _ahead(layer: str, requests: Requests, groups: Integers, runs: Mapping[str, Any]) -> Flags:
    """Whether nearly all requests of each group are consecutive or strided, so that a library can read them ahead."""
    if not runs:
        return np.zeros(_total(groups), dtype=bool)
    runs = {name: as_arrow(runs[name]) for name in ("layer", "file_id", "request_count", "op", "pattern")}
    of_layer = np.flatnonzero(np.asarray(pc.equal(runs["layer"].cast(pa.string()), layer)))
    file_ids, counted = (runs[name].to_numpy(zero_copy_only=False)[of_layer] for name in ("file_id", "request_count"))
    ops, patterns = (runs[name].take(pa.array(of_layer)).cast(pa.string()) for name in ("op", "pattern"))
    is_ahead = np.asarray(pc.is_in(patterns, pa.array(_AHEAD)))
    codes = np.asarray(pc.index_in(ops, pa.array(OPS)))
    # Rows come by file, and then by direction.
    ids = np.unique(requests.file_ids)
    keys = np.searchsorted(ids, requests.file_ids) * len(OPS) + requests.ops
    of_run = np.minimum(np.searchsorted(ids, file_ids), len(ids) - 1)
    is_there = ids[of_run] == file_ids
    group_of = np.full(len(ids) * len(OPS), -1)
    group_of[keys] = groups
    of_group = np.where(is_there, group_of[of_run * len(OPS) + codes], -1)
    at = np.flatnonzero(of_group >= 0)
    of_all = np.bincount(of_group[at], counted[at], _total(groups))
    return np.bincount(of_group[at], counted[at] * is_ahead[at], _total(groups)) >= _MOST * np.maximum(of_all, 1)
