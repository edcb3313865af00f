"""Radial pictures: circles of nodes, and cells of edges between them by time and value, as the client draws them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from iomine.report.blocks import block_text

OUTER, INNER = 0, 1
OPS: Final = ("read", "write")
# A value of so many bits is right to two parts in a thousand, and packs well.
_BITS: Final = 8
# The first in the list of values, which no cell has.
_NO_NUMBER: Final = -1.0
_KEYS: Final = ("ring", "op", "metric", "from", "to", "time", "value")
_NUMBERS: Final = ("mean", "least", "most")
# With fewer bins, a stretch of time says little.
_LEAST_BINS: Final = 16

Cells = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Metric:
    """What values are, and the ends of their axis, which is divided evenly by their logarithm.

    Attributes:
        name: in the lake's words.
        title: as people say it.
        unit: `seconds`, `bytes`, `seconds/MiB` or `requests`.
        least: the lower end of the first bin; what is below is in that.
        most: the upper end of the last.
        bins: how many bins there are.
    """

    name: str
    title: str
    unit: str
    least: float
    most: float
    bins: int = 24

    def bin_of(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
        """The bins of values."""
        with np.errstate(divide="ignore"):
            share = np.log(values / self.least) / np.log(self.most / self.least)
        bins: npt.NDArray[np.uint8] = np.clip(np.floor(share * self.bins), 0, self.bins - 1).astype(np.uint8)
        return bins


@dataclass(frozen=True, slots=True)
class Circle:
    """Nodes of a circle. Lists are as long as there are nodes, or empty where nothing of the kind is known of any.

    Attributes:
        one: what a node is.
        many: what nodes are.
        labels: what each is called.
        hosts: the host of each, or whatever it belongs to; None where it is not known.
        positions: where its ranks lie on average, from 0 to 1.
        firstRanks: the first of its ranks.
        lastRanks: the last.
        osts: its number as an OST.
        links: the address of what there is to read of it, None where there is nothing.
        kind: what it is called where circles can be chosen, as the client's `Kind`; empty where they are always the same.
    """

    # As the client's `Nodes` has them.
    one: str
    many: str
    labels: Sequence[str]
    hosts: Sequence[str | None] = ()
    positions: Sequence[float] = ()
    firstRanks: Sequence[int] = ()  # noqa: N815
    lastRanks: Sequence[int] = ()  # noqa: N815
    osts: Sequence[int] = ()
    links: Sequence[str | None] = ()
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Bins:
    """Bins of time.

    Attributes:
        bins: how many.
        begin: the first begins so many seconds after the start of the run.
        width: how long each is in seconds.
        kind: `run`, or `hours` of a night.
    """

    bins: int = 64
    begin: float = 0.0
    width: float = 1.0
    kind: str = "run"


@dataclass(frozen=True, slots=True)
class Lack:
    """What is missing, of which ring, direction and metric; -1 for any."""

    text: str
    ring: int = -1
    op: int = -1
    metric: int = -1


@dataclass(frozen=True, slots=True)
class Picture:
    """A radial picture.

    Attributes:
        title: what it shows.
        circles: three, from outside in.
        metrics: what edges can be drawn by.
        time: bins of time.
        cells: by name columns `ring`, `op`, `metric`, `from`, `to`, `time` and `value`, which are numbers of what they name,
            `count` and `bytes` of the requests, and their `mean`, `least` and `most` value.
        missing: what is missing.
        counts: what is counted: a `request` of a log, or of a night a `pair` of a log and an OST.
    """

    title: str
    circles: Sequence[Circle]
    metrics: Sequence[Metric]
    time: Bins
    cells: Cells
    missing: Sequence[Lack] = ()
    counts: str = "request"

    def block(self) -> str:
        """The picture as a block of a page."""
        order = np.lexsort([self.cells[name] for name in reversed(_KEYS)])
        cells = {name: column[order] for name, column in self.cells.items()}
        arrays = {
            **{name: _narrow(cells[name]) for name in (*_KEYS, "count")},
            "bytes": cells["bytes"].astype(np.float64),
            **_coded(cells),
        }
        about = {
            "title": self.title,
            "circles": [{name: _plain(value) for name, value in asdict(circle).items()} for circle in self.circles],
            "metrics": [asdict(metric) for metric in self.metrics],
            "ops": OPS,
            "counts": self.counts,
            "time": asdict(self.time),
            "missing": [asdict(lack) for lack in self.missing],
        }
        return block_text(about, arrays)


def coarser(cells: Cells, time_bins: int, most: int) -> tuple[Cells, int]:
    """Cells with half as many bins of time, and half as many again, until there are no more than `most` cells.

    Args:
        cells: columns of a picture.
        time_bins: of these.
        most: cells, which may be more where there are so many edges.

    Returns:
        the cells, and how many bins of time there are.
    """
    while len(cells["time"]) > most and time_bins > _LEAST_BINS:
        cells, time_bins = summed({**cells, "time": cells["time"] // 2}), time_bins // 2
    return cells, time_bins


def summed(cells: Cells) -> dict[str, npt.NDArray[Any]]:
    """Cells of which those with the same keys are one."""
    order = np.lexsort([cells[name] for name in reversed(_KEYS)])
    keys = {name: cells[name][order] for name in _KEYS}
    is_new = np.ones(len(order), bool)
    is_new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in keys.values()])
    firsts = np.flatnonzero(is_new)
    if not len(firsts):
        return dict(cells)
    count = np.add.reduceat(cells["count"][order], firsts)
    total = np.add.reduceat((cells["mean"] * cells["count"])[order], firsts)
    return {
        **{name: column[firsts] for name, column in keys.items()},
        "count": count,
        "bytes": np.add.reduceat(cells["bytes"][order], firsts),
        "mean": total / count,
        "least": np.minimum.reduceat(cells["least"][order], firsts),
        "most": np.maximum.reduceat(cells["most"][order], firsts),
    }


def _plain(value: str | Sequence[Any]) -> str | list[Any]:
    return value if isinstance(value, str) else list(value)


def _narrow(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Whole numbers in as few bytes as hold them."""
    return column.astype(np.min_scalar_type(int(column.max(initial=0))))


def _coded(cells: Cells) -> dict[str, npt.NDArray[Any]]:
    """Values of cells as indices into a list of distinct values, in few bytes.

    Where `mean` is 0, it is the mean of the bytes; then the other two are exact, and 0 where they are the mean. Otherwise values
    are rounded, none is less than 0, and `least` and `most` are by how many numbers they lie below and above the mean.
    """
    mean, least, most = (np.maximum(cells[name].astype(np.float64), 0.0) for name in _NUMBERS)
    is_bytes = np.isclose(mean * cells["count"], cells["bytes"], rtol=1e-9, atol=0)
    ends = [np.where(is_bytes, each, _rounded(each)) for each in (least, most)]
    middle = np.where(is_bytes, _NO_NUMBER, _rounded(mean))
    numbers = np.unique(np.concatenate([[_NO_NUMBER], middle, *ends]))
    of_mean, of_least, of_most = (np.searchsorted(numbers, each) for each in (middle, *ends))
    return {
        "numbers": numbers,
        "mean": _narrow(of_mean),
        "least": _narrow(np.where(is_bytes, np.where(least == mean, 0, of_least), of_mean - of_least)),
        "most": _narrow(np.where(is_bytes, np.where(most == mean, 0, of_most), of_most - of_mean)),
    }


def _rounded(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    mantissa, exponent = np.frexp(values)
    rounded: npt.NDArray[np.float64] = np.ldexp(np.rint(np.ldexp(mantissa, _BITS)), exponent - _BITS)
    return rounded
