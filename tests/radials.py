"""Radial pictures of runs that are made up: the four patterns, and large ones, with pages that show nothing else."""

from collections.abc import Callable, Mapping, Sequence
from html import escape

import numpy as np
import numpy.typing as npt

from iomine.report import explorer
from iomine.report.circles import INNER, OUTER, Bins, Circle, Metric, Picture
from iomine.report.page import style

LATENCY = Metric("latency", "Latency", "seconds", 1e-6, 1e3)
SIZE = Metric("size", "Size", "bytes", 1, 2**34)
_SEED = 20_261_123


def _circular(ranks: npt.NDArray[np.int64], noise: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return -2 + 0.06 * noise + 0.0 * ranks


def _striped(ranks: npt.NDArray[np.int64], noise: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return -2.4 + 0.9 * (ranks * 8 // (ranks.max() + 1) % 2) + 0.08 * noise


def _noisy(ranks: npt.NDArray[np.int64], noise: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    of_rank = np.random.default_rng(_SEED).normal(0, 0.6, int(ranks.max()) + 1)
    return -2 + of_rank[ranks] + 0.3 * noise


def _outlier(ranks: npt.NDArray[np.int64], noise: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    slow = np.isin(ranks, ranks.max() * np.array([3, 7]) // 11)
    return -2 + 0.06 * noise + 1.3 * slow


PATTERNS: Mapping[str, Callable[[npt.NDArray[np.int64], npt.NDArray[np.float64]], npt.NDArray[np.float64]]] = {
    "circular": _circular,
    "striped": _striped,
    "noisy": _noisy,
    "outlier": _outlier,
}


def made(pattern: str, ranks: int, carriers: int, osts: int, requests: int = 64, *, fan: int = 1, bins: int = 24) -> Picture:
    """A run of one pattern: each rank asks its carrier, and so many next to it, for so many writes.

    Args:
        pattern: of `PATTERNS`.
        ranks: how many.
        carriers: how many, each of neighbouring ranks.
        osts: how many, each of which every carrier goes to.
        requests: of a rank.
        fan: how many carriers a rank talks to.
        bins: of values.
    """
    random = np.random.default_rng(_SEED)
    rank = np.repeat(np.arange(ranks), requests)
    turn = np.tile(np.arange(requests), ranks)
    carrier = (rank * carriers // ranks + turn % fan) % carriers
    size = np.where(turn % 16, 2**20, 2**12).astype(np.float64)
    time = np.minimum((turn + random.random(len(rank))) / requests * 64, 63).astype(np.int64)
    seconds = 10 ** PATTERNS[pattern](rank, random.normal(size=len(rank)))
    ost = (turn + carrier) % osts
    inner = 10 ** (-2.6 + 0.25 * random.normal(size=len(rank)))
    latency, sizes = (Metric(each.name, each.title, each.unit, each.least, each.most, bins) for each in (LATENCY, SIZE))
    parts = [
        _cells({"ring": ring, "op": 1, "metric": number}, metric, (*ends, time), values, size)
        for ring, ends, waits in ((OUTER, (rank, carrier), seconds), (INNER, (carrier, ost), inner))
        for number, (metric, values) in enumerate(((latency, waits), (sizes, size)))
    ]
    circles = (
        Circle(
            "rank",
            "ranks",
            [f"rank {number}" for number in range(ranks)],
            [f"node{number // 16:04}" for number in range(ranks)],
            list((np.arange(ranks) + 0.5) / ranks),
            list(range(ranks)),
            list(range(ranks)),
        ),
        Circle("carrier", "carriers", [f"carrier {number}" for number in range(carriers)]),
        Circle("OST", "OSTs", [f"OST {number}" for number in range(osts)], osts=list(range(osts))),
    )
    cells = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return Picture(f"{pattern.capitalize()} run of {ranks:,} ranks", circles, (latency, sizes), Bins(64, 0.0, 1.5), cells)


def _cells(
    of: Mapping[str, int],
    metric: Metric,
    columns: Sequence[npt.NDArray[np.int64]],
    values: npt.NDArray[np.float64],
    size: npt.NDArray[np.float64],
) -> dict[str, npt.NDArray[np.float64]]:
    key = np.stack([*columns, metric.bin_of(values)])
    cells, place, count = np.unique(key, axis=1, return_inverse=True, return_counts=True)
    least, most = np.full(len(count), np.inf), np.zeros(len(count))
    np.minimum.at(least, place, values)
    np.maximum.at(most, place, values)
    return {
        **{name: np.full(len(count), value) for name, value in of.items()},
        **dict(zip(("from", "to", "time", "value"), cells, strict=True)),
        "count": count,
        "bytes": np.bincount(place, size),
        "mean": np.bincount(place, values) / count,
        "least": least,
        "most": most,
    }


def page_of(picture: Picture) -> str:
    """A page that shows a picture and nothing else."""
    return (
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{escape(picture.title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<style>{style()}</style><body><h1>{escape(picture.title)}</h1>"
        f'<script type="application/octet-stream" id="radial">{picture.block()}</script>'
        '<div class="radial" data-block="radial"></div>'
        f"<script>{explorer.asset('radial.js')}</script>"
    )
