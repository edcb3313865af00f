"""How regularly phases come: the interval of checkpoints, say.

There are two kinds of evidence: distances between the starts of phases, and the spectrum of the bytes by moment, which
needs no phases. `docs/decisions/periods.md` explains which of them is reported.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, Final, NamedTuple

import numpy as np

from iomine.derive.batch import LOG, logs_in
from iomine.derive.columns import labels
from iomine.derive.spectrum import FEWEST_BINS, Rhythm, rhythms
from iomine.derive.stretches import Stretches, heatmap_stretches
from iomine.derive.trace import Floats, Integers, Tables, Trace, group_starts
from iomine.schema.column import Column
from iomine.schema.ops import OPS

# Two phases have one distance, which is always like itself.
_FEWEST_PHASES: Final = 3
# As fine as Darshan's heat maps may be: in less time requests come regularly, not phases.
_FINEST_SECONDS: Final = 0.1
# More than a heat map has, since a trace knows more.
_TRACE_BINS: Final = 1024
# From here on a spectrum is believed, and where there are too few phases only if it stands out (FTIO's threshold).
_SURE: Final = 0.6
_OUTLIER: Final = 3.0

_Row = tuple[str | int | float | None, ...]


class _Series(NamedTuple):
    """Phases of a log's layer in which bytes were moved in one direction.

    Attributes:
        log: the log.
        layer: the layer, or `all`.
        op: the direction.
        evidence: `trace` or `heatmap`.
        starts: of each phase, in seconds, in order; at least one.
        end: of the last phase.
    """

    log: int
    layer: str
    op: str
    evidence: str
    starts: Floats
    end: float


class _Period(NamedTuple):
    """A period, by one of the two methods.

    Attributes:
        seconds: from one start to the next.
        confidence: from 0 to 1.
    """

    seconds: float
    confidence: float


class _Moved(NamedTuple):
    """Bytes that a layer moved in one direction.

    Attributes:
        moments: when, in seconds.
        weights: how many.
        bin_seconds: width of a bin, 0 where the evidence has none.
    """

    moments: Floats
    weights: Floats
    bin_seconds: float


def periods(phases: Mapping[str, Any], tables: Tables, traces: Sequence[Trace]) -> dict[str, Any]:
    """Rows of the table `period`: layers and directions that show one or have three phases; no columns where there are no rows.

    By starts, the period is the median distance from start to start; confidence is 1 less the median deviation of the
    distances from it, as a share of it. Medians tolerate a phase that is missing or late now and then. By spectrum,
    both are those of `rhythm`.

    Args:
        phases: columns of the table `phase`, as `phases` gives them.
        tables: columns by table, in one or more parts.
        traces: the traces, of which many logs have none.
    """
    stretches = cache(partial(heatmap_stretches, tables))
    heatmaps = cache(lambda layer, op: _Maps.of(*stretches(layer), op))
    binned: dict[Any, tuple[Floats, float]] = {}

    def spectrum(series: _Series, layers: Sequence[str]) -> Any:  # noqa: ANN401  whatever says that two are the same
        if series.evidence == "trace":
            parts = {layer: _traced(traces, series.log, layer, series.op) for layer in layers}
        else:
            parts = {layer: heatmaps(layer, series.op).of_log(series.log) for layer in layers}
            # A layer without bytes in this direction changes nothing but the width of a bin, which is that of all.
            filled = {layer: part for layer, part in parts.items() if len(part.moments)}
            if filled and {part.bin_seconds for part in parts.values()} <= {0.0, *(part.bin_seconds for part in filled.values())}:
                parts = filled
        first = float(series.starts[0])
        # The whole log is often what one layer is.
        key = (series.log, series.op, series.evidence, *parts, first, series.end)
        if key not in binned:
            binned[key] = _by_bin([*parts.values()], first, series.end)
        return key

    found = list(_series(phases))
    known = {(series.log, series.layer, series.op, series.evidence) for series in found}
    keys = [spectrum(series, _lowest(series, known)) for series in found]
    spectra = dict(zip(binned, rhythms([bins for bins, _ in binned.values()]), strict=True))
    rows = []
    for series, key in zip(found, keys, strict=True):
        row = _row(series, spectra[key], binned[key][1])
        rows += [(series.log, *row)] if row else []
    return _columns(rows) if rows else {}


class _Maps(NamedTuple):
    """Heat maps of a layer in one direction, log by log.

    Attributes:
        edges: where the bins of each log begin, and where the last log's end.
        moments: the middle of each bin of a rank.
        weights: its bytes.
        widths: seconds of a bin of each log.
    """

    edges: Integers
    moments: Floats
    weights: Floats
    widths: Floats

    @classmethod
    def of(cls, stretches: Stretches, widths: Floats, op: str) -> "_Maps":
        """Heat maps of a layer, from what `heatmap_stretches` gives."""
        is_op = stretches.ops == OPS.index(op)
        logs = stretches.logs[is_op]
        edges = np.searchsorted(logs, np.arange(len(widths) + 1))
        return cls(edges, stretches.starts[is_op] + widths[logs] / 2, stretches.moved_bytes[is_op], widths)

    def of_log(self, log: int) -> _Moved:
        """Heat maps of a log."""
        if log >= len(self.widths):
            return _Moved(self.moments[:0], self.weights[:0], 0.0)
        own = slice(self.edges[log], self.edges[log + 1])
        return _Moved(self.moments[own], self.weights[own], float(self.widths[log]))


def _columns(rows: Sequence[_Row]) -> dict[str, Any]:
    logs, layers, ops, evidence, counts, methods, *numbers = zip(*rows, strict=True)
    names = list(dict.fromkeys(layers))
    columns = ("period_seconds", "period_confidence_ratio", "spectrum_period_seconds", "spectrum_confidence_ratio")
    return {
        LOG: Column(np.array(logs)),
        "layer": labels(np.array([names.index(layer) for layer in layers]), names),
        "op": labels(np.array([OPS.index(op) for op in ops]), OPS),
        "evidence": list(evidence),
        "io_phase_count": list(counts),
        "period_method": list(methods),
        **{name: list(column) for name, column in zip(columns, numbers, strict=True)},
    }


def _row(series: _Series, found: Rhythm | None, width: float) -> _Row | None:
    starts = _by_starts(series.starts) if len(series.starts) >= _FEWEST_PHASES else None
    spectrum = _Period(found.period_bins * width, found.confidence) if found else None
    is_by_spectrum = found is not None and spectrum is not None and _is_by_spectrum(series, starts, spectrum, found, width)
    period = spectrum if is_by_spectrum else starts
    if period is None:
        return None
    method = "spectrum" if is_by_spectrum else "starts"
    return (series.layer, series.op, series.evidence, len(series.starts), method, *period, *(spectrum or (None, None)))


def _is_by_spectrum(series: _Series, starts: _Period | None, spectrum: _Period, found: Rhythm, width: float) -> bool:
    """Whether the spectrum's period is reported."""
    if starts is None:
        return found.confidence >= _SURE and found.deviations >= _OUTLIER
    # Starts in a heat map are those of bins; the spectrum has the same period more finely, but no other.
    return found.confidence >= _SURE and series.evidence == "heatmap" and abs(spectrum.seconds - starts.seconds) <= width


def _series(phases: Mapping[str, Any]) -> Iterator[_Series]:
    if not phases:
        return
    layers, evidence = phases["layer"].to_pylist(), phases["evidence"].to_pylist()
    code_of = {layer: code for code, layer in enumerate(dict.fromkeys(layers))}
    codes = np.array([code_of[layer] for layer in layers])
    logs = logs_in(phases)
    starts, ends = phases["start_seconds"].to_numpy(), phases["end_seconds"].to_numpy()
    # Bins of a width that no clock has end at infinity.
    moved = [np.flatnonzero((phases[f"{op}_bytes"].to_numpy(zero_copy_only=False) > 0) & np.isfinite(ends)) for op in OPS]
    at = np.concatenate(moved)
    ops = np.repeat(np.arange(len(OPS)), [len(of_op) for of_op in moved])
    order = np.lexsort((starts[at], ops, codes[at], logs[at]))
    at, ops = at[order], ops[order]
    firsts = group_starts(logs[at], codes[at], ops) if len(at) else at
    for own, op in zip(np.split(at, firsts[1:]), ops[firsts].tolist(), strict=False):
        one = own.min()
        yield _Series(int(logs[one]), layers[one], OPS[op], evidence[one], starts[own], float(ends[own].max()))


def _by_starts(starts: Floats) -> _Period:
    distances = np.diff(starts)
    period = _median(distances)
    deviation = _median(np.abs(distances - period))
    return _Period(period, max(0.0, 1 - deviation / period) if period > 0 else 0.0)


def _median(values: Floats) -> float:
    """The median of a few numbers, in a tenth of the time that NumPy's takes."""
    ordered = np.sort(values)
    return float((ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2)


def _lowest(series: _Series, known: set[tuple[int, str, str, str]]) -> tuple[str, ...]:
    """The layers whose bytes are those of the series, of which one may have no heat map."""
    if series.layer != "all":
        return (series.layer,)
    if series.evidence == "heatmap":
        return ("posix", "stdio")
    return next(((layer,) for layer in ("posix", "mpiio") if (series.log, layer, series.op, "trace") in known), ())


def _traced(traces: Sequence[Trace], log: int, layer: str, op: str) -> _Moved:
    """Each request of a log where it starts."""
    trace = next(trace for trace in traces if trace.layer == layer)
    is_op = np.repeat((trace.ops == OPS.index(op)) & (trace.logs == log), trace.counts)
    return _Moved(trace.starts[is_op], trace.lengths[is_op].astype(np.float64), 0.0)


def _by_bin(moved: Sequence[_Moved], first: float, end: float) -> tuple[Floats, float]:
    """Bytes of each bin from the first phase to the end of the last, none where these are too few; and the width of a bin."""
    width = max((each.bin_seconds for each in moved), default=0.0) or max(_FINEST_SECONDS, (end - first) / _TRACE_BINS)
    total = max(1, round((end - first) / width))
    if total < FEWEST_BINS:
        return np.empty(0), width
    bins = np.zeros(total)
    for each in moved:
        at = (each.moments - first) / width
        # Incidental files lie outside of phases, and unsound times anywhere.
        inside = (at >= 0) & (at < total)
        bins += np.bincount(at[inside].astype(np.int64), each.weights[inside], minlength=total)
    return bins, width
