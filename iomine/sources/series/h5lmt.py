"""pylmt's HDF5 files (`*.h5lmt`): a day of rates that pylmt worked out of LMT's counters.

Space is the first axis, time the second. A rate is that of the interval which ends at its step, so that the first step
has none and holds zeros. `FSMissingDataSet` marks what is not known with 1. The MDS's operations are those of the file
system's first MDS, which is not named: they stand under the file system's name.
"""

from typing import Final, NamedTuple

import h5py
import numpy as np
import pyarrow as pa

from iomine.errors import UnreadableError
from iomine.sources.model import Input, Readings, Source
from iomine.sources.series.doubts import counted, joined
from iomine.sources.series.hdf5 import SIGNATURE, Hdf5, opened, values
from iomine.sources.series.rows import RATE, Floats, Integers, rate_rows
from iomine.sources.series.times import SECOND, instants, time_doubt, usual_step

KIND: Final = "h5lmt"
_STEPS: Final = "FSStepsGroup/FSStepsDataSet"
_MISSING: Final = "FSMissingGroup/FSMissingDataSet"
_OSTS: Final = {"OSTReadGroup/OSTBulkReadDataSet": "read_bytes", "OSTWriteGroup/OSTBulkWriteDataSet": "write_bytes"}
_MDS: Final = "MDSOpsGroup/MDSOpsDataSet"


class _Grid(NamedTuple):
    """Rates as the file has them, one row a series and one column a step."""

    names: list[str]
    rates: Floats


class _Day(NamedTuple):
    """What the file holds."""

    at: Integers
    osts: dict[str, _Grid]
    mds: _Grid | None


def _knows(given: Input) -> bool:
    return given.data.startswith(SIGNATURE) and b"FSStepsGroup" in given.data


def _read(given: Input) -> Readings:
    day = _day(given.data)
    steps = np.diff(day.at)
    usual = usual_step(steps)
    if not usual:
        raise UnreadableError("The file has fewer than two time steps, so its rates have no interval.")
    begin, interval = day.at[1:] - usual, usual / SECOND
    tables = [
        rate_rows(KIND, begin, interval, grid.rates[:, 1:].T, target=grid.names, counter=counter, unit="bytes")
        for counter, grid in day.osts.items()
    ]
    if day.mds:
        rates, names, target = day.mds.rates[:, 1:].T, day.mds.names, _file_system(day.osts)
        tables.append(rate_rows(KIND, begin, interval, rates, target=target, counter=names, unit="reqs", of="mdt"))
    table = pa.concat_tables(tables)
    return Readings({RATE: table}, joined(time_doubt(steps), counted(table["rate"].null_count, "rates are not known")))


def _day(data: bytes) -> _Day:
    with opened(data) as file:
        steps = file.dataset(_STEPS)
        if steps is None or steps.ndim != 1:
            raise UnreadableError("The file has no time steps.")
        at = instants(values(steps))
        osts = {}
        for path, counter in _OSTS.items():
            if dataset := file.dataset(path):
                osts[counter] = _grid(file, dataset, "OSTNames", len(at))
        if not osts:
            raise UnreadableError("The file has no rates of OSTs.")
        if marks := file.dataset(_MISSING):
            _mark(osts, values(marks))
        operations = file.dataset(_MDS)
        return _Day(at, osts, operations and _grid(file, operations, "OpNames", len(at)))


def _grid(file: Hdf5, dataset: h5py.Dataset, attribute: str, steps: int) -> _Grid:
    if dataset.ndim != 2 or dataset.shape[1] != steps:  # noqa: PLR2004  space and time
        raise UnreadableError(f"{dataset.name} does not have a column for each of {steps:,} steps in time.")
    return _Grid(file.names(dataset, attribute, dataset.shape[0]), values(dataset).astype(np.float64))


def _mark(osts: dict[str, _Grid], marks: Integers) -> None:
    for _, rates in osts.values():
        if marks.shape != rates.shape:
            raise UnreadableError("The marks of missing values and the rates differ in shape.")
        rates[marks != 0] = np.nan


def _file_system(osts: dict[str, _Grid]) -> str | None:
    """The name before the hyphen that the names of all OSTs have, None where they have none."""
    found = {name.rpartition("-")[0] for grid in osts.values() for name in grid.names}
    return found.pop() or None if len(found) == 1 else None


SOURCE: Final = Source(KIND, _knows, _read)
