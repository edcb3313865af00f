"""Rows of a trace as a page reads them: a block of whole numbers and floats, in order of layer, rank and start.

Names become numbers of lists that the page holds once. Starts become whole ticks, which lie so close together in this
order that they take a byte or two each once the file is packed, by gzip, which browsers unpack themselves. A tick is a
microsecond, and in runs of more than 35 minutes twice as long, or four times, or as often as it must be doubled so that 31 bits
hold the run's. Durations are floats of 32 bits: right to the seventh digit.
"""

import gzip
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from iomine.report.blocks import block

_MOST_TICKS: Final = 2**31 - 1
_MICROSECOND: Final = 1e-6
_UNKNOWN: Final = -1
_MOST_BYTE: Final = 255
# Columns that gzip packs better with their bytes apart. The others are plain: a page reads them without a copy.
_SPLIT: Final = {"start_ticks", "offset_low", "seconds", "busy_seconds"}
# As small as gzip gets them, for hardly more time: pages are sent by mail.
_GZIP_LEVEL: Final = 9
# Columns that are taken as they are.
_WHOLE: Final = {"rank": pa.int32(), "ost_id": pa.int32(), "request_count": pa.int32()}
_BYTES: Final = ("length_bytes", "moved_bytes")

Names = Mapping[str, Sequence[Any]]


def tick_seconds(run_seconds: float) -> float:
    """How many seconds a tick is in a run of some length."""
    return _MICROSECOND * 2.0 ** max(0, math.ceil(math.log2(run_seconds / _MICROSECOND / _MOST_TICKS)))


def page_columns(rows: pa.Table, names: Names, tick: float) -> bytes:
    """A block of rows, without nulls: what is not known is -1. The text has the type of each column whose bytes are apart.

    Args:
        rows: `start_seconds` and `end_seconds`, sound and within the run, and any of the columns that a page knows.
        names: the page's lists by column of `rows` that they number; a value that is not in its list gets the number after
            the last.
        tick: seconds of a tick.
    """
    starts = rows["start_seconds"].to_numpy()
    found: dict[str, npt.NDArray[Any]] = {
        "start_ticks": np.rint(starts / tick).astype(np.int32),
        "seconds": (rows["end_seconds"].to_numpy() - starts).astype(np.float32),
    }
    for name in rows.column_names:
        column = rows[name]
        if name in names:
            found[name] = _numbers(column, names[name])
        elif name in _WHOLE:
            found[name] = pc.fill_null(_within(column, _WHOLE[name]), _UNKNOWN).to_numpy()
        elif name == "offset_bytes":
            found |= _halves(column)
        elif name in _BYTES:
            found[name] = pc.fill_null(column.cast(pa.float64(), safe=False), _UNKNOWN).to_numpy()
        elif name == "busy_seconds":
            found[name] = column.cast(pa.float32()).to_numpy()
    split = {name: column.dtype.name for name, column in found.items() if name in _SPLIT}
    arrays = {name: _apart(column) if name in split else _narrow(column) for name, column in found.items()}
    return block({"split": split}, arrays, _GZIP_LEVEL)


def packed(data: bytes) -> bytes:
    """Bytes as gzip packs them, without the time: the same bytes give the same."""
    return gzip.compress(data, _GZIP_LEVEL, mtime=0)


def _numbers(column: pa.ChunkedArray, names: Sequence[Any]) -> npt.NDArray[np.int32]:
    """Number of each value in a list."""
    coded = column.combine_chunks().dictionary_encode()
    number_of = {name: number for number, name in enumerate(names)}
    numbers = np.array([*(number_of.get(name, len(names)) for name in coded.dictionary.to_pylist()), _UNKNOWN], np.int32)
    found: npt.NDArray[np.int32] = numbers[pc.fill_null(coded.indices, len(numbers) - 1).to_numpy()]
    return found


def _halves(offsets: pa.ChunkedArray) -> dict[str, npt.NDArray[np.int32]]:
    """Offsets as multiples of 2**31 and the rest, as browsers take long to read whole numbers of 64 bits."""
    is_sound = pc.and_(pc.greater_equal(offsets, 0), pc.less(offsets, 2**62))
    sound = pc.fill_null(pc.if_else(is_sound, offsets, None), -(2**31)).to_numpy()
    return {
        "offset_high": (sound >> 31).astype(np.int32),
        "offset_low": (sound & _MOST_TICKS).astype(np.int32),
    }


def _within(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Whole numbers that are neither negative nor too large for a page; others are not known."""
    most = np.iinfo(kind.to_pandas_dtype()).max
    is_sound = pc.and_(pc.greater_equal(column, 0), pc.less_equal(column, most))
    return pc.if_else(is_sound, column, None).cast(kind)


def _apart(column: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """The lowest bytes of all numbers, then the next ones, and so on."""
    return np.ascontiguousarray(column, column.dtype.newbyteorder("<")).view(np.uint8).reshape(-1, column.itemsize).T.ravel()


def _narrow(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The column in a byte each where whole numbers fit, so that a browser has less to unpack."""
    is_small = column.dtype.kind == "i" and len(column) and column.min() >= 0 and column.max() <= _MOST_BYTE
    return column.astype(np.uint8) if is_small else column
