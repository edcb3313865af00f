"""Bytes that are moved more than once, by one rank or by several, and stripes on Lustre that several ranks touch.

Begins and ends of extents are sorted apart from each other, and never paired again. If the k-th end is later than the begin
that comes d - 1 places after the k-th begin, at least d extents overlap between the two. Only bytes after the (k-1)-th
end count for k, so that no byte is counted twice.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from iomine.derive.batch import TooMuchTogetherError
from iomine.derive.columns import counts, labels, stacked
from iomine.derive.layouts import serves
from iomine.derive.order import Groups, Order, Ordered
from iomine.derive.ranks import hosts_of
from iomine.derive.sorting import ascending, order_by
from iomine.derive.trace import Flags, Floats, Integers, Tables, group_starts, grouped
from iomine.schema.column import Column, as_arrow
from iomine.schema.ops import OPS

_LONGEST_LINE: Final = 1 << 62
_ONE_STRIPE: Final = 1 << 62
_SEVERAL: Final = 2
_AT_ONCE: Final = 1 << 20
# Stripes are counted one by one where there are no more of them than so many for each extent.
_DENSE: Final = 8


class _Extents(NamedTuple):
    """Parts of files, each of one group.

    Attributes:
        groups: group of each.
        begins: where in the file each begins.
        ends: where in the file each ends.
    """

    groups: Integers
    begins: Integers
    ends: Integers


class _Line(NamedTuple):
    """A line on which the files of all parts lie one after the other, a part being some of the groups.

    Attributes:
        part_of: part of each group.
        lows: lowest offset of each part.
        highs: where the last extent of each part ends.
        shifts: what takes an offset to its place on the line, for each part.
    """

    part_of: Integers
    lows: Integers
    highs: Integers
    shifts: Integers


class _Laid(NamedTuple):
    """Extents on a line.

    Attributes:
        parts: part of the k-th begin and of the k-th end, ascending.
        begins: all begins, ascending.
        ends: all ends, ascending.
    """

    parts: Integers
    begins: Integers
    ends: Integers

    @property
    def is_disjoint(self) -> bool:
        """Whether no extents lie over each other."""
        return not np.any(self.begins[1:] < self.ends[:-1])

    def covered(self, depth: int) -> "_Laid":
        """Where at least so many extents lie over each other."""
        count = max(len(self.begins) - depth + 1, 0)
        begins, ends = self.begins[depth - 1 :].copy(), self.ends[:count]
        begins[1:] = np.maximum(begins[1:], ends[:-1])
        is_covered = begins < ends
        return _Laid(self.parts[:count][is_covered], begins[is_covered], ends[is_covered])

    def sizes(self, part_count: int) -> Floats:
        """Sum of the extents of each part, as floats, which are exact up to 2**53."""
        return _sums(self.parts, self.ends - self.begins, part_count)


class StripeLayouts(NamedTuple):
    """Lustre layouts: for each component of a file's first mirror in sync, those of one file together and in order.

    Attributes:
        file_ids: file.
        starts: first byte that it covers.
        sizes: bytes of a stripe.
    """

    file_ids: Integers
    starts: Integers
    sizes: Integers


class _Stripes(NamedTuple):
    """Stripes of the files of all rows, numbered through. A file without a layout is a single one.

    Attributes:
        line: the line of rows.
        is_single: no file has several components, so that each row is one.
        starts: where each component starts on the line, ascending.
        sizes: bytes of a stripe of each component.
        bases: number of each component's first stripe, less what counting from the begin of the file would give it.
        counts: stripes of each row.
    """

    line: _Line
    is_single: bool
    starts: Integers
    sizes: Integers
    bases: Integers
    counts: Integers

    def numbers(self, rows: Integers, offsets: Integers) -> Integers:
        """The stripe of the byte at each offset, in the file of a row."""
        found = np.empty_like(offsets)
        for part in _pieces(len(offsets)):
            found[part] = self._numbers(rows[part], offsets[part])
        return found

    def _numbers(self, rows: Integers, offsets: Integers) -> Integers:
        components = rows
        if not self.is_single:
            components = np.searchsorted(self.starts, offsets + self.line.shifts[rows], side="right") - 1
        bits = np.frexp(self.sizes.astype(np.float64))[1] - 1
        if (1 << bits == self.sizes).all():
            # As all stripes on Lustre are, and to divide takes much longer.
            numbers: Integers = offsets >> bits[components]
        else:
            numbers = offsets // self.sizes[components]
        numbers += self.bases[components]
        return numbers

    def shared(self, firsts: Integers, lasts: Integers) -> Floats:
        """Stripes of each row that lie in several of the ranges, each of which begins and ends in a stripe."""
        total = int(self.counts.sum())
        if total <= _DENSE * len(firsts):
            depths = np.cumsum(np.bincount(firsts, minlength=total + 1) - np.bincount(lasts + 1, minlength=total + 1))
            upto = np.append(0, np.cumsum(depths >= _SEVERAL))
            ends = np.cumsum(self.counts)
            found: Floats = (upto[ends] - upto[ends - self.counts]).astype(np.float64)
            return found
        rows = np.searchsorted(np.cumsum(self.counts), np.sort(firsts), side="right")
        return _Laid(rows, np.sort(firsts), np.sort(lasts + 1)).covered(_SEVERAL).sizes(len(self.counts))


class _Measures(NamedTuple):
    """What is found out of each row, NaN where it is not known.

    Attributes:
        of_ranks: bytes that each rank touched, summed over ranks.
        of_hosts: bytes that each host's ranks touched, summed over hosts.
        of_all: bytes touched.
        overlap: bytes that several ranks touched.
        overlap_ranks: ranks that touched any of these.
        straddling: requests that touch several stripes.
        shared_stripes: stripes that several ranks touched.
    """

    of_ranks: Floats
    of_hosts: Floats
    of_all: Floats
    overlap: Floats
    overlap_ranks: Floats
    straddling: Floats
    shared_stripes: Floats


def file_overlap(tables: Tables, traces: Sequence[Ordered]) -> dict[str, Column]:
    """Rows of the table `file_overlap`; no columns where there are no rows.

    A request through MPI-IO is taken for one piece of its file, though a file view can leave holes in it. What needs
    offsets is NULL for a file and direction with an offset that is not known; what needs hosts, where that of a rank is
    not known; what needs stripes, where the log has no layout of the file. Of mirrors in sync, the first gives the stripes.

    Args:
        tables: columns by table, in one or more parts.
        traces: the traces in these.
    """
    layouts = stripe_layouts(tables)
    return stacked([_file_overlap(tables, layouts, trace) for trace in traces])


def _file_overlap(tables: Tables, layouts: StripeLayouts | None, ordered: Ordered) -> dict[str, Column]:
    trace, groups, order = ordered.trace, ordered.groups, ordered.filled
    row_count = len(groups.file_ids)
    found = _measures(groups, order, hosts_of(groups.ranks, tables, groups.logs[groups.rows])[0], layouts)
    moved = np.bincount(groups.rows[groups.of_run], trace.bytes)
    is_unknown = np.bincount(groups.rows, order.unknown(len(groups.ranks)), row_count) > 0
    columns = {
        "touched_bytes": found.of_all,
        "again_rank_bytes": moved - found.of_ranks,
        "again_host_bytes": found.of_ranks - found.of_hosts,
        "again_bytes": moved - found.of_all,
        "overlap_bytes": found.overlap,
        "overlap_rank_count": found.overlap_ranks,
        "straddle_count": found.straddling,
        "shared_stripe_count": found.shared_stripes,
    }
    return {
        "layer": labels(np.zeros(row_count, np.int64), [trace.layer]),
        "file_id": Column(groups.file_ids),
        "op": labels(groups.ops, OPS),
        "moved_bytes": counts(moved),
        **{name: counts(np.where(is_unknown, np.nan, column)) for name, column in columns.items()},
    }


def _measures(groups: Groups, order: Order, hosts: Integers, layouts: StripeLayouts | None) -> _Measures:
    rows, row_count = groups.rows, len(groups.file_ids)
    firsts_of_hosts, host_of = grouped(rows, hosts)
    traced = _traced(order)
    lines = _lines(traced, (np.arange(len(rows)), host_of, rows))
    if lines is None:
        if groups.logs[0] != groups.logs[-1]:
            raise TooMuchTogetherError
        return _Measures(*[np.full(row_count, np.nan)] * len(_Measures._fields))
    line_of_ranks, line_of_hosts, line_of_rows = lines
    extents = traced if _is_merged(traced) else _merged(traced, line_of_ranks)
    of_ranks = _sums(rows[extents.groups], extents.ends - extents.begins, row_count)
    # Before extents are laid out once more, which takes as much memory as they do.
    stripes = _shared_and_straddling(groups, order, extents, layouts, line_of_rows)
    laid = _laid(extents, line_of_rows)
    # A host that is not known may be any other.
    is_hidden = np.bincount(rows[firsts_of_hosts], hosts[firsts_of_hosts] < 0, row_count) > 0
    if laid.is_disjoint:
        # What nobody touches twice needs no more sorting.
        nothing = np.zeros(row_count)
        return _Measures(of_ranks, np.where(is_hidden, np.nan, of_ranks), of_ranks, nothing, nothing, *stripes)
    overlaps = laid.covered(_SEVERAL)
    of_hosts = _laid(extents, line_of_hosts).covered(1).sizes(len(firsts_of_hosts))
    return _Measures(
        of_ranks,
        np.where(is_hidden, np.nan, _sums(rows[firsts_of_hosts], of_hosts, row_count)),
        laid.covered(1).sizes(row_count),
        overlaps.sizes(row_count),
        _ranks_in(overlaps, extents, line_of_rows),
        *stripes,
    )


def _shared_and_straddling(
    groups: Groups, order: Order, extents: _Extents, layouts: StripeLayouts | None, line: _Line
) -> tuple[Floats, Floats]:
    """Requests that straddle stripes and stripes that several ranks touched, of each row."""
    if layouts is None:
        not_known = np.full(len(groups.file_ids), np.nan)
        return not_known, not_known
    stripes, has_layout = _stripes(layouts, groups.file_ids, line)
    straddling, shared = _straddling(stripes, order, groups), _shared_stripes(stripes, extents)
    return np.where(has_layout, straddling, np.nan), np.where(has_layout, shared, np.nan)


def _pieces(count: int) -> Iterator[slice]:
    """Slices of a million rows each: what is worked out of one on the way takes little memory."""
    return (slice(first, first + _AT_ONCE) for first in range(0, count, _AT_ONCE))


def _sums(keys: Integers, values: Integers | Floats | Flags, count: int) -> Floats:
    return np.bincount(keys, values, count).astype(np.float64, copy=False)


def _traced(order: Order) -> _Extents:
    """What was traced; consecutive requests are one extent, which leaves fewer to be sorted."""
    if not order.is_consecutive.any():
        return _Extents(order.groups, order.begins, order.ends)
    firsts, ends = order.extents()
    return _Extents(order.groups[firsts], order.begins[firsts], ends)


def _lines(extents: _Extents, parts: Sequence[Integers]) -> list[_Line] | None:
    """A line for each way to part the groups, None where a line would be too long for 64-bit offsets."""
    group_count = len(parts[0])
    lows, highs = np.full(group_count, np.iinfo(np.int64).max), np.zeros(group_count, np.int64)
    if len(extents.groups):
        # A group's extents are neighbours, except for groups that come in parts.
        firsts = group_starts(extents.groups)
        np.minimum.at(lows, extents.groups[firsts], np.minimum.reduceat(extents.begins, firsts))
        np.maximum.at(highs, extents.groups[firsts], np.maximum.reduceat(extents.ends, firsts))
    # Groups without any.
    lows = np.minimum(lows, highs)
    lines = []
    for part_of in parts:
        part_count = part_of.max() + 1
        part_lows, part_highs = np.full(part_count, np.iinfo(np.int64).max), np.zeros(part_count, np.int64)
        np.minimum.at(part_lows, part_of, lows)
        np.maximum.at(part_highs, part_of, highs)
        # Between parts is a place that nobody touches.
        sizes = part_highs - part_lows + 1
        if sizes.sum(dtype=np.float64) > _LONGEST_LINE:
            return None
        lines.append(_Line(part_of, part_lows, part_highs, np.cumsum(sizes) - sizes - part_lows))
    return lines


def _is_merged(extents: _Extents) -> bool:
    """Whether the extents of each group are neighbours, in order and apart from each other."""
    groups = extents.groups
    firsts = groups[group_starts(groups)] if len(groups) else groups
    is_after = extents.begins[1:] >= extents.ends[:-1]
    is_after |= groups[1:] != groups[:-1]
    return len(firsts) == len(np.unique(firsts)) and bool(is_after.all())


def _laid(extents: _Extents, line: _Line) -> _Laid:
    parts = line.part_of[extents.groups]
    in_part = np.bincount(parts, minlength=len(line.lows))
    shifts = line.shifts[parts]
    # Of long traces a column has 80 MB, so each is given back before the next sort.
    del parts
    begins, ends = extents.begins + shifts, extents.ends + shifts
    del shifts
    order = order_by(begins)
    begins = begins[order]
    ends = ends[order]
    del order
    # In the order of begins, ends mostly ascend.
    ends = ascending(ends)
    return _Laid(np.repeat(np.arange(len(in_part)), in_part), begins, ends)


def _merged(extents: _Extents, line: _Line) -> _Extents:
    """Extents without those that overlap or touch others of the same group, in order of groups and begins."""
    laid = _laid(extents, line)
    is_first, is_last = np.ones(len(laid.parts), dtype=bool), np.ones(len(laid.parts), dtype=bool)
    np.greater(laid.begins[1:], laid.ends[:-1], out=is_first[1:])
    is_last[:-1] = is_first[1:]
    groups = laid.parts[is_first]
    shifts = line.shifts[groups]
    return _Extents(groups, laid.begins[is_first] - shifts, laid.ends[is_last] - shifts)


def _ranks_in(overlaps: _Laid, extents: _Extents, line: _Line) -> Floats:
    """How many groups of each row have extents that reach into the overlaps."""
    shifts = line.shifts[line.part_of[extents.groups]]
    begun = np.searchsorted(overlaps.begins, extents.ends + shifts, side="left")
    ended = np.searchsorted(overlaps.ends, extents.begins + shifts, side="right")
    has_any = np.zeros(len(line.part_of))
    has_any[extents.groups[begun > ended]] = 1
    return _sums(line.part_of, has_any, len(line.lows))


def stripe_layouts(tables: Tables) -> StripeLayouts | None:
    """Layouts of all files that have a sound one, by what serves them; where ranks have a record each, that of the first."""
    names = ("file_id", "rank", "component_flags", "mirror_id", "extent_start_bytes", "stripe_bytes")
    parts = [[as_arrow(part[name]).fill_null(-1).to_numpy() for name in names] for part in tables.get("lustre_component", ())]
    if not parts:
        return None
    file_ids, ranks, flags, mirrors, starts, sizes = map(np.concatenate, zip(*parts, strict=True))
    is_serving = serves(flags)
    file_ids, ranks, mirrors, starts, sizes = (each[is_serving] for each in (file_ids, ranks, mirrors, starts, sizes))
    _, firsts, file_of = np.unique(file_ids, return_index=True, return_inverse=True)
    is_first = (ranks == ranks[firsts][file_of]) & (mirrors == mirrors[firsts][file_of])
    is_odd = np.bincount(file_of, is_first & ((sizes <= 0) | (starts < 0))) > 0
    taken = np.flatnonzero(is_first & ~is_odd[file_of])
    taken = taken[np.lexsort((starts[taken], file_ids[taken]))]
    return StripeLayouts(file_ids[taken], starts[taken], sizes[taken])


def _stripes(layouts: StripeLayouts, file_ids: Integers, line: _Line) -> tuple[_Stripes, Flags]:
    """The stripes of the files of all rows, and which rows have a layout."""
    firsts = np.searchsorted(layouts.file_ids, file_ids, side="left")
    component_counts = np.searchsorted(layouts.file_ids, file_ids, side="right") - firsts
    has_layout = component_counts > 0
    counts_of_rows = np.maximum(component_counts, 1)
    ends = np.cumsum(counts_of_rows)
    rows = np.repeat(np.arange(len(file_ids)), counts_of_rows)
    within = np.arange(ends[-1]) - (ends - counts_of_rows)[rows]
    component = np.where(has_layout[rows], firsts[rows] + within, 0)
    starts, sizes = np.append(layouts.starts, 0)[component], np.append(layouts.sizes, 1)[component]
    sizes = np.where(has_layout[rows], sizes, _ONE_STRIPE)
    # The first component counts from the lowest offset on, even if it starts later: there is no other.
    starts = np.where(within > 0, np.clip(starts, line.lows[rows], line.highs[rows]), line.lows[rows])
    nexts = np.append(starts[1:], 0)
    nexts[ends - 1] = line.highs
    first_numbers = starts // sizes
    # For a component that holds nothing this may be one too many, which leaves a number without a stripe.
    stripe_counts = (nexts - 1) // sizes - first_numbers + 1
    bases = np.cumsum(stripe_counts) - stripe_counts - first_numbers
    counts_of_stripes = np.add.reduceat(stripe_counts, ends - counts_of_rows)
    is_single = len(rows) == len(file_ids)
    return _Stripes(line, is_single, starts + line.shifts[rows], sizes, bases, counts_of_stripes), has_layout


def _straddling(stripes: _Stripes, order: Order, groups: Groups) -> Floats:
    found = np.zeros(len(stripes.counts))
    for part in _pieces(len(order.groups)):
        rows = groups.rows[order.groups[part]]
        is_straddling = stripes.numbers(rows, order.begins[part]) < stripes.numbers(rows, order.ends[part] - 1)
        found += _sums(rows, is_straddling, len(stripes.counts))
    return found


def _shared_stripes(stripes: _Stripes, extents: _Extents) -> Floats:
    # Where requests are not known, extents can be empty.
    filled = slice(None) if (extents.begins < extents.ends).all() else np.flatnonzero(extents.begins < extents.ends)
    groups = extents.groups[filled]
    rows = stripes.line.part_of[groups]
    firsts = stripes.numbers(rows, extents.begins[filled])
    lasts = stripes.numbers(rows, extents.ends[filled] - 1)
    del rows
    # Extents of one rank that lie in the same stripe count it once.
    is_same = (groups[1:] == groups[:-1]) & (firsts[1:] <= lasts[:-1])
    firsts[1:] += is_same
    is_left = firsts <= lasts
    if not is_left.all():
        firsts = firsts[is_left]
        lasts = lasts[is_left]
    return stripes.shared(firsts, lasts)
