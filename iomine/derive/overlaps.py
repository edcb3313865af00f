"""Bytes that are moved more than once, by one rank or by several, and stripes on Lustre that several ranks touch.

Begins and ends of extents are sorted apart from each other, and never paired again. Between the k-th end and the begin
that comes d - 1 places after the k-th begin, if the end is the later, at least d extents lie over each other; and of the
bytes after the end before it, no other k tells the same.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from iomine.derive.columns import counts, labels, stacked
from iomine.derive.order import Groups, Order, groups_of, ordered
from iomine.derive.ranks import hosts_of
from iomine.derive.trace import OPS, Flags, Floats, Integers, Tables, Trace, grouped

_LONGEST_LINE: Final = 1 << 62
_ONE_STRIPE: Final = 1 << 62
_SEVERAL: Final = 2


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


class _Layouts(NamedTuple):
    """Lustre layouts: for each component of a file's first mirror, those of one file together and in order.

    Attributes:
        file_ids: file.
        starts: first byte that it covers.
        sizes: bytes of a stripe.
    """

    file_ids: Integers
    starts: Integers
    sizes: Integers


class _Stripes(NamedTuple):
    """Stripes along the line of rows, numbered through. A file without a layout is a single one.

    Attributes:
        starts: where each component starts on the line, ascending.
        shifts: what takes a place on the line to its offset, for each component.
        sizes: bytes of a stripe of each component.
        bases: number of each component's first stripe, less what counting from the begin of the file would give it.
    """

    starts: Integers
    shifts: Integers
    sizes: Integers
    bases: Integers

    def numbers(self, places: Integers) -> Integers:
        """The stripe of the byte at each place."""
        component = np.searchsorted(self.starts, places, side="right") - 1
        numbers: Integers = (places + self.shifts[component]) // self.sizes[component] + self.bases[component]
        return numbers


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


def file_overlap(tables: Tables, traces: Sequence[Trace]) -> dict[str, pa.Array]:
    """Rows of the table `file_overlap`; no columns where there are no rows.

    A request through MPI-IO is taken for one piece of its file, though a file view can leave holes in it. What needs
    offsets is NULL for a file and direction with an offset that is not known; what needs hosts, where that of a rank is
    not known; what needs stripes, where the log has no layout of the file. Of mirrors, the first gives the stripes.

    Args:
        tables: columns by table, in one or more parts.
        traces: the traces in these.
    """
    layouts = _layouts(tables)
    return stacked([_file_overlap(tables, layouts, trace) for trace in traces])


def _file_overlap(tables: Tables, layouts: _Layouts | None, trace: Trace) -> dict[str, pa.Array]:
    groups = groups_of(trace)
    row_count = len(groups.file_ids)
    order = ordered(trace, groups.of_run, with_empty=False)
    found = _measures(groups, order, hosts_of(groups.ranks, tables).indices.fill_null(-1).to_numpy(), layouts)
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
        "file_id": pa.array(groups.file_ids),
        "op": labels(groups.ops, OPS),
        "moved_bytes": counts(moved),
        **{name: counts(np.where(is_unknown, np.nan, column)) for name, column in columns.items()},
    }


def _measures(groups: Groups, order: Order, hosts: Integers, layouts: _Layouts | None) -> _Measures:
    rows, row_count = groups.rows, len(groups.file_ids)
    not_known = np.full(row_count, np.nan)
    firsts_of_hosts, host_of = grouped(rows, hosts)
    traced = _traced(order)
    lines = _lines(traced, (np.arange(len(rows)), host_of, rows))
    if lines is None:
        return _Measures(*[not_known] * len(_Measures._fields))
    line_of_ranks, line_of_hosts, line_of_rows = lines
    extents = _merged(traced, line_of_ranks)
    laid = _laid(extents, line_of_rows)
    overlaps = laid.covered(_SEVERAL)
    of_hosts = _laid(extents, line_of_hosts).covered(1).sizes(len(firsts_of_hosts))
    straddling = shared_stripes = not_known
    if layouts is not None:
        stripes, has_layout = _stripes(layouts, groups.file_ids, line_of_rows)
        straddling = np.where(has_layout, _straddling(stripes, order, groups, line_of_rows), np.nan)
        shared_stripes = np.where(has_layout, _shared_stripes(stripes, extents, line_of_rows), np.nan)
    return _Measures(
        _sums(rows[extents.groups], extents.ends - extents.begins, row_count),
        # A host that is not known may be any other.
        _sums(rows[firsts_of_hosts], np.where(hosts[firsts_of_hosts] < 0, np.nan, of_hosts), row_count),
        laid.covered(1).sizes(row_count),
        overlaps.sizes(row_count),
        _ranks_in(overlaps, extents, line_of_rows),
        straddling,
        shared_stripes,
    )


def _sums(keys: Integers, values: Integers | Floats | Flags, count: int) -> Floats:
    return np.bincount(keys, values, count).astype(np.float64, copy=False)


def _traced(order: Order) -> _Extents:
    """What was traced; consecutive requests are one extent, which leaves fewer to be sorted."""
    firsts, ends = order.extents()
    return _Extents(order.groups[firsts], order.begins[firsts], ends)


def _lines(extents: _Extents, parts: Sequence[Integers]) -> list[_Line] | None:
    """A line for each way to part the groups, none at all where one would be too long for its places to be told."""
    group_count = len(parts[0])
    lows, highs = np.full(group_count, np.iinfo(np.int64).max), np.zeros(group_count, np.int64)
    np.minimum.at(lows, extents.groups, extents.begins)
    np.maximum.at(highs, extents.groups, extents.ends)
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


def _laid(extents: _Extents, line: _Line) -> _Laid:
    parts = line.part_of[extents.groups]
    shifts = line.shifts[parts]
    in_part = np.bincount(parts, minlength=len(line.lows))
    return _Laid(np.repeat(np.arange(len(in_part)), in_part), np.sort(extents.begins + shifts), np.sort(extents.ends + shifts))


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


def _layouts(tables: Tables) -> _Layouts | None:
    """Layouts of all files that have a sound one; where ranks have a record each, that of the first."""
    names = ("file_id", "rank", "mirror_id", "extent_start_bytes", "stripe_bytes")
    parts = [
        [pa.array(part[name], pa.int64()).fill_null(-1).to_numpy() for name in names]
        for part in tables.get("lustre_component", ())
    ]
    if not parts:
        return None
    file_ids, ranks, mirrors, starts, sizes = map(np.concatenate, zip(*parts, strict=True))
    _, firsts, file_of = np.unique(file_ids, return_index=True, return_inverse=True)
    is_first = (ranks == ranks[firsts][file_of]) & (mirrors == mirrors[firsts][file_of])
    is_odd = np.bincount(file_of, is_first & ((sizes <= 0) | (starts < 0))) > 0
    taken = np.flatnonzero(is_first & ~is_odd[file_of])
    taken = taken[np.lexsort((starts[taken], file_ids[taken]))]
    return _Layouts(file_ids[taken], starts[taken], sizes[taken])


def _stripes(layouts: _Layouts, file_ids: Integers, line: _Line) -> tuple[_Stripes, Flags]:
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
    # A first component that starts behind what was touched is no component of it, but there is no other.
    starts = np.where(within > 0, np.clip(starts, line.lows[rows], line.highs[rows]), line.lows[rows])
    nexts = np.append(starts[1:], 0)
    nexts[ends - 1] = line.highs
    first_numbers = starts // sizes
    # Of a component that nothing lies in this may be one too many, which leaves a number without a stripe.
    stripe_counts = (nexts - 1) // sizes - first_numbers + 1
    bases = np.cumsum(stripe_counts) - stripe_counts - first_numbers
    shifts = line.shifts[rows]
    return _Stripes(starts + shifts, -shifts, sizes, bases), has_layout


def _straddling(stripes: _Stripes, order: Order, groups: Groups, line: _Line) -> Floats:
    rows = groups.rows[order.groups]
    shifts = line.shifts[rows]
    is_straddling = stripes.numbers(order.begins + shifts) < stripes.numbers(order.ends - 1 + shifts)
    return _sums(rows, is_straddling, len(line.lows))


def _shared_stripes(stripes: _Stripes, extents: _Extents, line: _Line) -> Floats:
    # Where requests are not known, extents can be empty.
    filled = np.flatnonzero(extents.begins < extents.ends)
    groups = extents.groups[filled]
    rows = line.part_of[groups]
    shifts = line.shifts[rows]
    begins = stripes.numbers(extents.begins[filled] + shifts)
    ends = stripes.numbers(extents.ends[filled] - 1 + shifts) + 1
    # Extents of one rank that lie in the same stripe count it once.
    is_same = groups[1:] == groups[:-1]
    begins[1:] = np.where(is_same, np.maximum(begins[1:], ends[:-1]), begins[1:])
    return _Laid(rows, np.sort(begins), np.sort(ends)).covered(_SEVERAL).sizes(len(line.lows))
