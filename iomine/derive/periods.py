"""How regularly phases come: the interval of checkpoints, say."""

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa

from iomine.derive.columns import labels
from iomine.derive.trace import OPS, Floats

# Two phases have one distance, which is always like itself.
_FEWEST_PHASES: Final = 3


def periods(phases: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    """Rows of the table `period`, for each layer and direction with enough phases; no columns where there are no rows.

    The period is the median distance from start to start; confidence is 1 less the median deviation of the distances from
    it, as a share of it. Medians bear it if a phase is missing or comes late now and then.

    Args:
        phases: columns of the table `phase`, as `phases` gives them.
    """
    rows = [
        (layer, op, evidence, len(starts), *_period(starts))
        for layer, evidence, op, starts in _series(phases)
        if len(starts) >= _FEWEST_PHASES
    ]
    if not rows:
        return {}
    layers, ops, evidence, counts, seconds, confidence = zip(*rows, strict=True)
    names = list(dict.fromkeys(layers))
    return {
        "layer": labels(np.array([names.index(layer) for layer in layers]), names),
        "op": labels(np.array([OPS.index(op) for op in ops]), OPS),
        "evidence": pa.array(evidence),
        "io_phase_count": pa.array(counts),
        "period_seconds": pa.array(seconds),
        "period_confidence_ratio": pa.array(confidence),
    }


def _series(phases: Mapping[str, pa.Array]) -> list[tuple[str, str, str, Floats]]:
    """Layer, evidence, direction, and starts of the phases in which bytes were moved in it."""
    if not phases:
        return []
    layers = np.array(phases["layer"].to_pylist())
    evidence, starts = phases["evidence"].to_pylist(), phases["start_seconds"].to_numpy()
    found = []
    for layer in dict.fromkeys(layers.tolist()):
        of_layer = np.flatnonzero(layers == layer)
        for op in OPS:
            moved = phases[f"{op}_bytes"].fill_null(0).to_numpy()[of_layer] > 0
            found.append((layer, evidence[of_layer[0]], op, np.sort(starts[of_layer[moved]])))
    return found


def _period(starts: Floats) -> tuple[float, float]:
    distances = np.diff(starts)
    period = float(np.median(distances))
    deviation = float(np.median(np.abs(distances - period)))
    return period, max(0.0, 1 - deviation / period) if period > 0 else 0.0
