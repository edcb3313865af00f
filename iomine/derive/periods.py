"""How regularly phases come: the interval of checkpoints, say.

There are two kinds of evidence: distances between the starts of phases, and the spectrum of the bytes by moment, which
needs no phases. `docs/decisions/periods.md` argues which of them is reported.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, Final, NamedTuple

import numpy as np

from iomine.derive.columns import labels
from iomine.derive.spectrum import Rhythm, rhythm
from iomine.derive.stretches import Stretches, heatmap_stretches
from iomine.derive.trace import Floats, Tables, Trace
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
    """Phases of a layer in which bytes were moved in one direction.

    Attributes:
        layer: the layer, or `all`.
        op: the direction.
        evidence: `trace` or `heatmap`.
        starts: of each phase, in seconds, in order; at least one.
        end: of the last phase.
    """

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
    distances from it, as a share of it. Medians bear it if a phase is missing or comes late now and then. By spectrum,
    both are those of `rhythm`.

    Args:
        phases: columns of the table `phase`, as `phases` gives them.
        tables: columns by table, in one or more parts.
        traces: the log's traces.
    """
    heatmaps = cache(partial(heatmap_stretches, tables))

    @cache
    def spectrum(evidence: str, layers: tuple[str, ...], op: str, first: float, end: float) -> tuple[Rhythm | None, float]:
        parts = [_traced(traces, layer, op) if evidence == "trace" else _mapped(*heatmaps(layer), op) for layer in layers]
        bins, width = _by_bin(parts, first, end)
        return rhythm(bins), width

    found = list(_series(phases))
    known = {(series.layer, series.op, series.evidence) for series in found}
    rows = []
    for series in found:
        first = float(series.starts[0])
        row = _row(series, *spectrum(series.evidence, _lowest(series, known), series.op, first, series.end))
        rows += [row] if row else []
    return _columns(rows) if rows else {}


def _columns(rows: Sequence[_Row]) -> dict[str, Any]:
    layers, ops, evidence, counts, methods, *numbers = zip(*rows, strict=True)
    names = list(dict.fromkeys(layers))
    columns = ("period_seconds", "period_confidence_ratio", "spectrum_period_seconds", "spectrum_confidence_ratio")
    return {
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
    layers = np.array(phases["layer"].to_pylist())
    evidence = phases["evidence"].to_pylist()
    starts, ends = phases["start_seconds"].to_numpy(), phases["end_seconds"].to_numpy()
    # Bins of a width that no clock has end at infinity.
    moved = {op: (phases[f"{op}_bytes"].to_numpy(zero_copy_only=False) > 0) & np.isfinite(ends) for op in OPS}
    for layer in dict.fromkeys(layers.tolist()):
        of_layer = np.flatnonzero(layers == layer)
        for op in OPS:
            at = of_layer[moved[op][of_layer]]
            if len(at):
                yield _Series(layer, op, evidence[at[0]], np.sort(starts[at]), float(ends[at].max()))


def _by_starts(starts: Floats) -> _Period:
    distances = np.diff(starts)
    period = float(np.median(distances))
    deviation = float(np.median(np.abs(distances - period)))
    return _Period(period, max(0.0, 1 - deviation / period) if period > 0 else 0.0)


def _lowest(series: _Series, known: set[tuple[str, str, str]]) -> tuple[str, ...]:
    """The layers whose bytes are those of the series, of which one may have no heat map."""
    if series.layer != "all":
        return (series.layer,)
    if series.evidence == "heatmap":
        return ("posix", "stdio")
    return next(((layer,) for layer in ("posix", "mpiio") if (layer, series.op, "trace") in known), ())


def _traced(traces: Sequence[Trace], layer: str, op: str) -> _Moved:
    """Each request where it starts."""
    trace = next(trace for trace in traces if trace.layer == layer)
    is_op = np.repeat(trace.ops == OPS.index(op), trace.counts)
    return _Moved(trace.starts[is_op], trace.lengths[is_op].astype(np.float64), 0.0)


def _mapped(stretches: Stretches, width: float, op: str) -> _Moved:
    """Each bin of a rank in its middle."""
    is_op = stretches.ops == OPS.index(op)
    return _Moved(stretches.starts[is_op] + width / 2, stretches.moved_bytes[is_op], width)


def _by_bin(moved: Sequence[_Moved], first: float, end: float) -> tuple[Floats, float]:
    """Bytes of each bin from the first phase to the end of the last, and the width of a bin."""
    width = max((each.bin_seconds for each in moved), default=0.0) or max(_FINEST_SECONDS, (end - first) / _TRACE_BINS)
    total = max(1, round((end - first) / width))
    bins = np.zeros(total)
    for each in moved:
        at = (each.moments - first) / width
        # Incidental files lie outside of phases, and unsound times anywhere.
        inside = (at >= 0) & (at < total)
        bins += np.bincount(at[inside].astype(np.int64), each.weights[inside], minlength=total)
    return bins, width
