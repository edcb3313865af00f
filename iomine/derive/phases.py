"""Phases: stretches of time in which a log does I/O, parted by gaps in which it does none.

Which gaps part phases, and which lie within one, is decided by the gaps themselves: sorted by length, long ones between
phases and short ones between requests leave a step between them, and the widest on a logarithmic scale is where the two
kinds part. `docs/decisions/phases.md` argues it, and `docs/phases.md` shows how often it is right.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from iomine.derive.columns import counts, labels, stacked
from iomine.derive.streams import moves_data_through_stdio
from iomine.derive.stretches import READ, WRITE, Stretches, chains, heatmap_stretches, joined, pieces
from iomine.derive.trace import OPS, Flags, Floats, Integers, Tables, Trace, group_starts, grouped

Method = Literal["gaps", "paper"]

# Shorter gaps are a computer doing something else for a moment.
_FLOOR_SECONDS: Final = 1e-3
# Nor does a gap part phases that is short beside them.
_LEAST_SHARE: Final = 0.07
# Configuration and messages: files that hold next to nothing of a log's bytes make no phases.
_INCIDENTAL_BYTES: Final = 65_536
_INCIDENTAL_SHARE: Final = 1e-3
# A trace that holds less of what a log moved does not speak for the whole log.
_WHOLE_SHARE: Final = 0.9
# Median deviations of a normal distribution that make an outlier (Iglewicz and Hoaglin 1993), and how much slower it is.
_OUTLIER: Final = 3.5 * 1.4826
_SLOW: Final = 1.5
_FEWEST_RANKS: Final = 4
_WHOLE_LOG: Final = "all"


class Layer(NamedTuple):
    """What is known of a layer, or of the whole log, parted into phases.

    Attributes:
        evidence: `trace` or `heatmap`.
        stretches: what was done, each stretch within one phase.
        cuts: moments between phases, in order.
    """

    evidence: str
    stretches: Stretches
    cuts: Floats


Layers = Mapping[str, Layer]


def phases(layers: Layers, run_seconds: float | None) -> dict[str, pa.Array]:
    """Rows of the table `phase`: phases of each layer and of the whole log; no columns where there are no rows.

    Bytes and requests of the whole log are those of the lowest layer.

    Args:
        layers: what is known of the log.
        run_seconds: length of the run, None where it is not known.
    """
    return stacked([_rows(layer, name, run_seconds) for name, layer in layers.items()])


def file_phases(layers: Layers, run_seconds: float | None) -> dict[str, pa.Array]:
    """Rows of the table `file_phase`: what a layer's phases did to each traced file; no columns where there are no rows.

    Args:
        layers: what is known of the log.
        run_seconds: length of the run, None where it is not known.
    """
    traced = {name: layer for name, layer in layers.items() if layer.evidence == "trace" and name != _WHOLE_LOG}
    return stacked([_rows(layer, name, run_seconds, by_file=True) for name, layer in traced.items()])


def cuts_between(starts: Floats, ends: Floats, floor: float, method: Method = "gaps") -> Floats:
    """Moments between phases, in order.

    Args:
        starts: when each request started, in seconds; at least one.
        ends: when each ended.
        floor: shortest gap that may part phases, in seconds.
        method: as of `phases`.
    """
    # Before the n-th start in order of time there is a gap if n requests have ended by then: no need to know whose.
    starts, ends = np.sort(starts), np.sort(ends)
    lengths = starts[1:] - ends[:-1]
    at = np.flatnonzero(lengths > _shortest_gap(method, floor))
    gaps = lengths[at]
    busy = ends[-1] - starts[0] - gaps.sum()
    parting = at[gaps > (_gap_bar(gaps, busy, floor) if method == "gaps" else _paper_bar(gaps))]
    return (ends[:-1][parting] + starts[1:][parting]) / 2


def _shortest_gap(method: Method, floor: float) -> float:
    """Seconds beyond which a gap may part phases."""
    return floor if method == "gaps" else 0.0


def _gap_bar(gaps: Floats, busy: float, floor: float) -> float:
    """The length beyond which a gap parts phases: infinite where none does."""
    if not len(gaps):
        return np.inf
    longest = np.sort(gaps)[::-1]
    # The longest n gaps part n + 1 phases.
    least = np.maximum(floor, _LEAST_SHARE * busy / (np.arange(len(longest)) + 2))
    low = np.maximum(least, np.append(longest[1:], 0.0))
    steps = longest / low
    widest = int(np.argmax(steps))
    return float(np.sqrt(longest[widest] * low[widest])) if steps[widest] > 1 else np.inf


def _paper_bar(gaps: Floats) -> float:
    return float(gaps.mean() + gaps.std()) if len(gaps) else np.inf


def phase_layers(tables: Tables, traces: Sequence[Trace], method: Method = "gaps") -> Layers:
    """Each layer, and the whole log, of which anything is known, parted into phases.

    Where a layer has a trace they are exact, otherwise as fine as the bins of its heat map.

    Args:
        tables: columns by table, in one or more parts.
        traces: the log's traces.
        method: `paper` is that of DXT Explorer (Bez et al., PDSW 2021): a gap parts phases if it is longer than the
            mean of all gaps and one standard deviation.
    """
    traced = {trace.layer: _kept(trace, method) for trace in traces}
    found = {}
    for name in ("posix", "mpiio", "stdio"):
        layer = _traced([traced[name]], method) if name in traced else _binned(tables, [name], method)
        if layer is not None:
            found[name] = layer
    if not _is_whole(tables, traces):
        whole = _binned(tables, ["posix", "stdio"], method)
    elif len(traced) == 1:
        whole = found.get(traces[0].layer)
    else:
        # POSIX first: the lowest layer speaks for the log, those above it only tell when it was busy.
        whole = _traced([traced[name] for name in sorted(traced, key=lambda name: name != "posix")], method)
    return found | ({} if whole is None else {_WHOLE_LOG: whole})


def _is_whole(tables: Tables, traces: Sequence[Trace]) -> bool:
    """Whether a trace holds nearly all that the log moved."""
    parts = [part for table in ("posix_file", "stdio_file") for part in tables.get(table, ())]
    columns = [part[op].to_numpy() for part in parts for op in ("read_bytes", "write_bytes")]
    moved = sum(float(np.maximum(column, 0).sum(dtype=np.float64)) for column in columns)
    return any(trace.bytes.sum() >= _WHOLE_SHARE * moved for trace in traces)


def _kept(trace: Trace, method: Method) -> Stretches:
    """What a layer did, but to incidental files; only gaps that are too short to part phases are closed."""
    found = chains(trace, _shortest_gap(method, _FLOOR_SECONDS))
    incidental = np.unique(trace.file_ids[_is_incidental(trace)])
    return found.of(~np.isin(found.file_ids, incidental)) if len(incidental) else found


def _traced(layers: Sequence[Stretches], method: Method) -> Layer | None:
    """Layers of which the first tells what was moved."""
    starts, ends = (np.concatenate(column) for column in zip(*(layer[:2] for layer in layers), strict=True))
    if not len(starts):
        return None
    cuts = cuts_between(starts, ends, _FLOOR_SECONDS, method)
    lowest, *above = (pieces(layer, cuts) for layer in layers if len(layer.starts))
    return Layer("trace", joined([lowest, *(stretches.silent() for stretches in above)]), cuts)


def _binned(tables: Tables, layers: list[str], method: Method) -> Layer | None:
    # Heat maps of stdio do not part files from standard streams, which hold messages and no data.
    wanted = [layer for layer in layers if layer != "stdio" or moves_data_through_stdio(tables)]
    found = [heatmap_stretches(tables, layer) for layer in wanted]
    parts = [(stretches, width) for stretches, width in found if len(stretches.starts) and stretches.ends.max() < np.inf]
    if not parts:
        return None
    stretches = joined([stretches for stretches, _ in parts])
    is_little = _are_little(_bursts(parts), stretches.moved_bytes)
    if is_little.any():
        stretches = stretches.of(~is_little)
    # An empty bin is a gap.
    floor = max(width for _, width in parts) / 2
    return Layer("heatmap", stretches, cuts_between(stretches.starts, stretches.ends, floor, method))


def _bursts(parts: Sequence[tuple[Stretches, float]]) -> Integers:
    """For each stretch of layers' heat maps the number of its burst: bins in one direction with no empty one between them."""
    cells, total = [], 0
    for stretches, width in parts:
        bins = np.round(stretches.starts / width).astype(np.int64)
        # One more than there are, which is empty and parts directions.
        span = int(bins.max()) + 2
        cells.append(total + stretches.ops * span + bins)
        total += len(OPS) * span
    cell = np.concatenate(cells)
    is_filled = np.zeros(total, bool)
    is_filled[cell] = True
    is_first = is_filled & ~np.roll(is_filled, 1)
    burst_of: Integers = np.cumsum(is_first)[cell] - 1
    return burst_of


def _is_incidental(trace: Trace) -> Flags:
    return _are_little(grouped(trace.file_ids)[1], trace.bytes)


def _are_little(group_of: Integers, moved_bytes: Floats) -> Flags:
    """Whether a group's bytes are next to nothing, and so are those of all groups with no more bytes together."""
    moved = np.bincount(group_of, moved_bytes)
    ordered = np.sort(moved)
    together = np.cumsum(ordered)[np.searchsorted(ordered, moved, side="right") - 1]
    is_little: Flags = (moved < _INCIDENTAL_BYTES) & (together < _INCIDENTAL_SHARE * moved.sum())
    return is_little[group_of]


def _rows(layer: Layer, name: str, run_seconds: float | None, *, by_file: bool = False) -> dict[str, pa.Array]:
    stretches = layer.stretches
    phase_of = np.searchsorted(layer.cuts, stretches.starts)
    firsts, row_of = grouped(phase_of, stretches.file_ids) if by_file else grouped(phase_of)
    total = len(firsts)

    def summed(values: Floats, op: int | None = None) -> Floats:
        wanted = slice(None) if op is None else stretches.ops == op
        sums: Floats = np.bincount(row_of[wanted], values[wanted], minlength=total).astype(np.float64)
        return sums

    starts, ends = np.full(total, np.inf), np.full(total, -np.inf)
    np.minimum.at(starts, row_of, stretches.starts)
    np.maximum.at(ends, row_of, stretches.ends)
    run = run_seconds if run_seconds is not None and run_seconds > 0 else np.nan
    files = {"file_id": pa.array(stretches.file_ids[firsts])} if by_file else {}
    has_files = layer.evidence == "trace"
    columns = {
        "layer": labels(np.zeros(total, np.int64), [name]),
        "evidence": pa.repeat(layer.evidence, total),
        "phase": pa.array(phase_of[firsts] + 1),
        "start_seconds": pa.array(starts),
        "end_seconds": pa.array(ends),
        "run_ratio": pa.array((ends - starts) / run, from_pandas=True),
        "read_count": counts(summed(stretches.request_counts, READ)),
        "write_count": counts(summed(stretches.request_counts, WRITE)),
        "request_count": counts(summed(stretches.request_counts)),
        "read_bytes": counts(summed(stretches.moved_bytes, READ)),
        "write_bytes": counts(summed(stretches.moved_bytes, WRITE)),
        "file_count": pa.array(_distinct(row_of, stretches.file_ids, total), mask=np.full(total, not has_files)),
    }
    return files | columns | _ranks(stretches, row_of, total)


def _distinct(phase_of: Integers, keys: Integers, total: int) -> Integers:
    firsts, _ = grouped(phase_of, keys)
    return np.bincount(phase_of[firsts], minlength=total)


def _ranks(stretches: Stretches, row_of: Integers, total: int) -> dict[str, pa.Array]:
    """Which ranks took part in each row, and which were out of line: slower for a request and for a byte than others."""
    moving = np.flatnonzero(stretches.moved_bytes > 0)
    pairs, pair_of = grouped(row_of[moving], stretches.ranks[moving])
    rows, ranks = row_of[moving][pairs], stretches.ranks[moving][pairs]
    seconds, moved, requests = (
        np.bincount(pair_of, of_all[moving]) for of_all in (stretches.seconds, stretches.moved_bytes, stretches.request_counts)
    )
    begins = group_starts(rows)
    sizes = np.diff(begins, append=len(rows))
    by_seconds = np.lexsort((seconds, rows))
    fastest, slowest = by_seconds[begins], by_seconds[begins + sizes - 1]

    def over_median(values: Floats) -> tuple[Floats, Floats]:
        median = np.repeat(_medians(values, rows, begins, sizes), sizes)
        deviation = np.repeat(_medians(np.abs(values - median), rows, begins, sizes), sizes)
        with np.errstate(divide="ignore", invalid="ignore"):
            return values / median, (values - median) / deviation

    slower, deviations = over_median(seconds / requests)
    is_straggler = (slower > _SLOW) & (deviations > _OUTLIER) & (over_median(seconds / moved)[0] > _SLOW)
    is_straggler &= np.repeat(sizes, sizes) >= _FEWEST_RANKS
    filled = rows[begins]
    is_timed = np.zeros(total, bool)
    is_timed[filled] = ~np.isnan(seconds[slowest])

    def spread(values: Integers | Floats, is_known: Flags) -> pa.Array:
        full = np.zeros(total, values.dtype)
        full[filled] = values
        return pa.array(full, mask=~is_known)

    return {
        "rank_count": spread(sizes, np.ones(total, bool)),
        "fastest_rank": spread(ranks[fastest], is_timed),
        "fastest_rank_seconds": spread(seconds[fastest], is_timed),
        "slowest_rank": spread(ranks[slowest], is_timed),
        "slowest_rank_seconds": spread(seconds[slowest], is_timed),
        "straggler_count": spread(np.add.reduceat(is_straggler.astype(np.int64), begins), is_timed),
    }


def _medians(values: Floats, rows: Integers, begins: Integers, sizes: Integers) -> Floats:
    ordered = values[np.lexsort((values, rows))]
    medians: Floats = (ordered[begins + (sizes - 1) // 2] + ordered[begins + sizes // 2]) / 2
    return medians
