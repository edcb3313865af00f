"""TOKIO's HDF5 files: rates by file system, each group of data sets with its own time stamps.

Time is the first axis, space the second; a rate is that of the interval which begins at its time stamp. Data sets are
known by their names in pytokio's schema; the unit says whether a number is of a second or of the interval, as sets
called `readbytes` hold either. A zero with a minus sign is pytokio's mark of what is not known.
"""

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from iomine.errors import UnreadableError
from iomine.sources.model import Input, Readings, Source
from iomine.sources.series.doubts import counted, joined
from iomine.sources.series.hdf5 import SIGNATURE, Hdf5, opened, values
from iomine.sources.series.rows import RATE, Floats, Integers, rate_rows
from iomine.sources.series.times import SECOND, instants, time_doubt, usual_step

KIND: Final = "tokio"
_TIMES: Final = "timestamps"
_PER_SECOND: Final = "/sec"
_MDT_OPERATIONS: Final = "open close mknod link unlink mkdir rmdir rename getxattr statfs setattr getattr".split()
_COUNTERS: Final = {
    **{f"datatargets/{op}{what}": (f"{op}_bytes", "bytes") for op in ("read", "write") for what in ("rates", "bytes")},
    **{f"datatargets/{op}{what}": (op, "ops") for op in ("read", "write") for what in ("oprates", "ops")},
    **{f"mdtargets/{op}{what}": (op, "ops") for op in _MDT_OPERATIONS for what in ("rates", "s")},
}
# What TOKIO calls operations, Lustre calls requests.
_UNITS: Final = {"bytes": "bytes", "ops": "reqs"}


class _Grid(NamedTuple):
    """A data set, one row an interval and one column a target."""

    path: str
    at: Integers
    targets: list[str]
    is_per_second: bool
    numbers: Floats


def _knows(given: Input) -> bool:
    return given.data.startswith(SIGNATURE)


def _read(given: Input) -> Readings:
    grids, left_out = _grids(given.data)
    if not grids:
        raise UnreadableError("The file has none of TOKIO's data sets of bytes or operations.")
    table = pa.concat_tables([_rows(grid) for grid in grids])
    doubts = dict.fromkeys(time_doubt(np.diff(grid.at)) for grid in grids)
    missing = counted(table["rate"].null_count, "rates are not known")
    return Readings({RATE: table}, joined(*doubts, missing, f"left out: {', '.join(left_out)}" if left_out else ""))


def _grids(data: bytes) -> tuple[list[_Grid], list[str]]:
    """The data sets that are read, and the paths of those that are not."""
    with opened(data) as file:
        paths = [path for path in file.paths() if not path.endswith(f"/{_TIMES}")]
        grids = [_grid(file, path) for path in paths if path in _COUNTERS]
    return grids, [path for path in paths if path not in _COUNTERS]


def _grid(file: Hdf5, path: str) -> _Grid:
    times, dataset = file.dataset(f"{path.partition('/')[0]}/{_TIMES}"), file.dataset(path)
    if times is None or times.ndim != 1 or dataset is None or dataset.ndim != 2 or dataset.shape[0] != len(times):  # noqa: PLR2004  time and space
        raise UnreadableError(f"{path} does not have a row for each of its group's time stamps.")
    unit = file.text(dataset, "units")
    if unit.removesuffix(_PER_SECOND) != _COUNTERS[path][1]:
        raise UnreadableError(f"{path} does not say that it is in {_COUNTERS[path][1]} or {_COUNTERS[path][1]}{_PER_SECOND}.")
    targets = file.names(dataset, "columns", dataset.shape[1])
    return _Grid(path, instants(values(times)), targets, unit.endswith(_PER_SECOND), values(dataset).astype(np.float64))


def _rows(grid: _Grid) -> pa.Table:
    usual = usual_step(np.diff(grid.at)) / SECOND
    if not usual:
        raise UnreadableError(f"{grid.path} has fewer than two time stamps, so its rates have no interval.")
    is_known = ~((grid.numbers == 0) & np.signbit(grid.numbers))
    rates = np.where(is_known, grid.numbers, np.nan)
    if not grid.is_per_second:
        rates /= usual
    counter, unit = _COUNTERS[grid.path]
    return rate_rows(KIND, grid.at, usual, rates, target=grid.targets, counter=counter, unit=_UNITS[unit])


SOURCE: Final = Source(KIND, _knows, _read)
