"""Stretches of time in which one rank reads or writes one file: requests of a trace, or bins of a heat map.

Attributes of what is not known are NaN.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Self

import numpy as np

from iomine.derive.trace import OPS, Flags, Floats, Integers, Tables, Trace

WRITE, READ = (OPS.index(op) for op in ("write", "read"))
# Looking up the cuts in a run costs as much as looking up about so many requests among the cuts.
_LOOKUP: Final = 200


class Stretches(NamedTuple):
    """Stretches of time, each of one rank on one file in one direction.

    Attributes:
        starts: in seconds since the start of the run.
        ends: likewise.
        ops: index into `OPS`.
        ranks: ranks.
        file_ids: files, 0 where the evidence knows none.
        request_counts: requests, NaN where the evidence has none.
        moved_bytes: bytes.
        seconds: time in requests, NaN where the evidence has none.
    """

    starts: Floats
    ends: Floats
    ops: Integers
    ranks: Integers
    file_ids: Integers
    request_counts: Floats
    moved_bytes: Floats
    seconds: Floats

    def of(self, wanted: Flags) -> Self:
        """Some of them."""
        return type(self)._make(column[wanted] for column in self)

    def silent(self) -> Self:
        """The same stretches of time, with nothing moved in them."""
        nothing = np.zeros(len(self.starts))
        return self._replace(request_counts=nothing, moved_bytes=nothing, seconds=nothing)


def joined(parts: Sequence[Stretches]) -> Stretches:
    """One after the other; at least one."""
    return parts[0] if len(parts) == 1 else Stretches._make(np.concatenate(columns) for columns in zip(*parts, strict=True))


def times(trace: Trace, kept_runs: Flags) -> tuple[Floats, Floats]:
    """Start and end of each request of the runs that are kept and whose times are sound, in the order of the trace."""
    starts, ends = trace.starts, trace.ends
    wanted = None if kept_runs.all() else np.repeat(kept_runs, trace.counts)
    sound = _sound(starts, ends)
    if not sound.all():
        wanted = sound if wanted is None else wanted & sound
    return (starts, ends) if wanted is None else (starts[wanted], ends[wanted])


def pieces(trace: Trace, kept_runs: Flags, cuts: Floats) -> Stretches:
    """Requests of each run put together between two cuts; those whose times are not sound are left out.

    Args:
        trace: the trace of a layer.
        kept_runs: which of its runs are wanted.
        cuts: moments, in order, in which there are no requests.
    """
    firsts = _first_of_pieces(trace, cuts)
    sound = _sound(trace.starts, trace.ends)
    if not sound.all():
        # Each by itself, so that it takes no other with it.
        odd = np.flatnonzero(~sound)
        firsts = np.union1d(firsts, np.concatenate([odd, odd[odd < len(sound) - 1] + 1]))
    runs = np.searchsorted(trace.firsts, firsts, side="right") - 1
    found = Stretches(
        np.minimum.reduceat(trace.starts, firsts),
        np.maximum.reduceat(trace.ends, firsts),
        trace.ops[runs],
        trace.ranks[runs],
        trace.file_ids[runs],
        np.diff(firsts, append=len(sound)).astype(np.float64),
        np.add.reduceat(trace.lengths, firsts, dtype=np.float64),
        np.add.reduceat(trace.ends, firsts) - np.add.reduceat(trace.starts, firsts),
    )
    kept = kept_runs[runs] & sound[firsts]
    return found if kept.all() else found.of(kept)


def _first_of_pieces(trace: Trace, cuts: Floats) -> Integers:
    """Where runs begin, and where the next piece of one does."""
    lasts = np.append(trace.firsts[1:], len(trace.starts)) - 1
    backwards = np.flatnonzero(trace.starts[1:] < trace.starts[:-1]) + 1
    spanning = np.flatnonzero(np.searchsorted(cuts, trace.starts[trace.firsts]) != np.searchsorted(cuts, trace.starts[lasts]))
    if np.isin(backwards, trace.firsts).all() and len(spanning) * _LOOKUP < len(trace.starts):
        # Runs are in order of time, and most of them long: it is enough to look up the cuts in each.
        begins = [trace.firsts[run] + np.searchsorted(trace.starts[trace.firsts[run] : lasts[run] + 1], cuts) for run in spanning]
        within = np.concatenate([trace.firsts, *begins])
        return np.unique(within[within < len(trace.starts)])
    between = np.searchsorted(cuts, trace.starts)
    is_first = np.zeros(len(trace.starts), bool)
    is_first[trace.firsts] = True
    is_first[1:] |= between[1:] != between[:-1]
    return np.flatnonzero(is_first)


def _sound(starts: Floats, ends: Floats) -> Flags:
    # Infinities and NaN lie nowhere.
    return (starts >= 0) & (ends >= starts) & (ends < np.inf)


def heatmap_stretches(tables: Tables, layer: str) -> tuple[Stretches, float]:
    """Bins of a layer's heat maps that have bytes, one stretch for each rank and direction, and the width of a bin."""
    found = [_of_heatmaps(part, layer) for part in tables.get("heatmap_rank", ())]
    if not found:
        return Stretches._make(np.empty(0, kind) for kind in "ffiiifff"), 0.0
    return joined([stretches for stretches, _ in found]), max(width for _, width in found)


def _of_heatmaps(part: Mapping[str, Any], layer: str) -> tuple[Stretches, float]:
    names = [*part["layer"].dictionary.to_pylist(), layer]
    rows = np.flatnonzero(part["layer"].indices.fill_null(-1).to_numpy() == names.index(layer))
    widths, ranks = part["bin_seconds"].to_numpy()[rows], part["rank"].to_numpy()[rows]
    ops = []
    for op, name in ((WRITE, "write_bins"), (READ, "read_bins")):
        offsets, flat = part[name].offsets.to_numpy(), part[name].values.to_numpy()
        sizes = np.diff(offsets)[rows]
        row_of = np.repeat(np.arange(len(rows)), sizes)
        bins = np.arange(len(row_of)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        values = flat[np.repeat(offsets[:-1][rows], sizes) + bins]
        filled = np.flatnonzero(values > 0)
        width, at = widths[row_of[filled]], bins[filled]
        unknown = np.full(len(filled), np.nan)
        ops.append(
            Stretches(
                at * width,
                (at + 1) * width,
                np.full(len(filled), op),
                ranks[row_of[filled]],
                np.zeros(len(filled), np.int64),
                unknown,
                values[filled].astype(np.float64),
                unknown,
            )
        )
    return joined(ops), float(widths.max(initial=0.0))
