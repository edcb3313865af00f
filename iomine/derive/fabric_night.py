"""What each directed link did in a night, for pictures: sums, and a number for each ten minutes.

A picture of a night needs one number of each link and of each time; read from `link_slot` and `link_interval`, that takes seconds
where there are tens of thousands of links. Levels are logarithms in two bytes, of which twelve bits are used so that they pack
well: steps of 0.8% between 1e-6 and 1e9, 1 for zero and 0 for what is not known.
"""

import datetime as dt
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

SLOT_SECONDS: Final = 600
SLOTS: Final = 144
LOWEST: Final = 1e-6
HIGHEST: Final = 1e9
# Of levels above 0 and 1.
STEPS: Final = 4094
_WORD_BYTES: Final = 4
_ERRORS: Final = ("symbol_error_count", "link_recovery_count", "link_downed_count", "rcv_error_count", "xmit_discard_count")


def levels_of(values: npt.ArrayLike) -> npt.NDArray[np.uint16]:
    """Numbers as levels; NaN is not known, and what is beyond the scale stands at its end."""
    given = np.asarray(values, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        place = np.log(given / LOWEST) / np.log(HIGHEST / LOWEST) * STEPS
    found = 2 + np.nan_to_num(place, posinf=STEPS, neginf=0).clip(0, STEPS).round()
    found = np.where(given > 0, found, 1)
    return np.where(np.isnan(given), 0, found).astype("<u2")


def values_of(levels: npt.NDArray[np.uint16]) -> Floats:
    """Levels as numbers, at most 0.5% off; NaN is not known."""
    numbers = LOWEST * (HIGHEST / LOWEST) ** ((levels.astype(np.float64) - 2) / STEPS)
    return np.where(levels > 1, numbers, np.where(levels == 1, 0.0, np.nan))


def link_nights_of(slots: pa.Table, intervals: pa.Table, night: dt.date) -> pa.Table:
    """The rows of `link_night` of a night.

    Intervals that reach over several slots are shared out by time, as if what they count had come evenly.

    Args:
        slots: rows of `link_slot` of the night.
        intervals: rows of `link_interval` of the night; what lies in the next is left out.
        night: the night.
    """
    keys = _Keys(slots, intervals)
    shape = len(keys.guids), SLOTS
    begin = (_seconds(slots, night) // SLOT_SECONDS).astype(np.int64)
    inside = (begin >= 0) & (begin < SLOTS)
    cells = (keys.of_slots * SLOTS + begin)[inside]

    def summed(name: str) -> Floats:
        return _sums(cells, _floats(slots, name)[inside], shape)

    counted, storage, other, covered = map(summed, ("counted_bytes", "storage_bytes", "other_bytes", "covered_seconds"))
    capacity = np.full(shape[0], np.nan)
    known = _floats(slots, "capacity_bytes_per_second")
    capacity[keys.of_slots[~np.isnan(known)]] = known[~np.isnan(known)]
    could = capacity[:, None] * covered
    waits, words, errors, multicast, packets = _counted(intervals, keys.of_intervals, night, shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        utilisation, of_storage = counted / could, storage / (capacity[:, None] * np.where(covered > 0, covered, SLOT_SECONDS))
        series = [utilisation, of_storage, waits / words, errors, multicast / packets]
        total_could = np.nansum(np.where(np.isnan(counted), np.nan, could), axis=1)
        whole = _whole(counted) / np.where(total_could > 0, total_could, np.nan)
        waiting = _whole(waits) / _whole(words)
        of_multicast = _whole(multicast) / _whole(packets)
    names = ("utilisation_levels", "storage_levels", "waiting_levels", "error_levels", "multicast_levels")
    return pa.table(
        {
            "link_id": pa.array(keys.link_ids, pa.string()),
            "guid": pa.array(keys.guids, pa.string()),
            "port": pa.array(keys.ports, pa.int64()),
            "counted_bytes": _rounded(_whole(counted)),
            "storage_bytes": _rounded(_whole(storage)),
            "other_bytes": _rounded(_whole(other)),
            "covered_seconds": _nullable(_whole(covered)),
            "capacity_bytes_per_second": _nullable(capacity),
            "utilisation_ratio": _nullable(whole),
            "peak_utilisation_ratio": _nullable(_highest(utilisation)),
            "wait_per_word_ratio": _nullable(waiting),
            "link_error_count": _rounded(_whole(errors)),
            "multicast_packet_ratio": _nullable(of_multicast),
            **{name: _blobs(levels_of(values)) for name, values in zip(names, series, strict=True)},
        }
    )


class _Keys:
    """Directed links by number, in the order of guid and port."""

    def __init__(self, slots: pa.Table, intervals: pa.Table) -> None:
        parts = [table.select(["guid", "port", "link_id"]) for table in (slots, intervals)]
        both = pa.concat_tables([part.set_column(2, "link_id", pc.cast(part["link_id"], pa.string())) for part in parts])
        guid = pc.cast(both["guid"], pa.string()).combine_chunks().dictionary_encode()
        codes = guid.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        ports = both["port"].to_numpy().astype(np.int64)
        order = np.argsort(np.array(guid.dictionary.to_pylist(), dtype=object)) if len(guid.dictionary) else np.zeros(0, np.int64)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        span = int(ports.max(initial=0)) + 1
        packed = (rank[codes] if len(codes) else codes) * span + ports
        # Sorting millions of numbers takes longer than counting them.
        is_there = np.zeros(len(order) * span, bool)
        is_there[packed] = True
        first = np.zeros(len(is_there), np.int64)
        first[packed[::-1]] = np.arange(len(packed))[::-1]
        there = np.flatnonzero(is_there)
        number = np.cumsum(is_there) - 1
        self.of_slots, self.of_intervals = np.split(number[packed], [len(slots)])
        rows = both.take(pa.array(first[there]))
        self.guids, self.ports, self.link_ids = (rows[name].to_pylist() for name in ("guid", "port", "link_id"))


def _counted(
    intervals: pa.Table, links: Integers, night: dt.date, shape: tuple[int, int]
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Ticks, words, errors, multicast packets and packets by link and slot."""
    begin, length = _seconds(intervals, night), _floats(intervals, "interval_seconds")
    end = begin + np.where(np.isnan(length), 0, length)
    counted = [_floats(intervals, name) for name in _ERRORS]
    errors = np.where(np.all(np.isnan(counted), axis=0), np.nan, np.nansum(counted, axis=0)) if len(intervals) else np.zeros(0)
    waits, moved = _floats(intervals, "xmit_wait_ticks"), _floats(intervals, "moved_bytes")
    # A share of waiting takes both.
    words = np.where(np.isnan(waits), np.nan, moved / _WORD_BYTES)
    waits = np.where(np.isnan(moved), np.nan, waits)
    multicast, packets = _floats(intervals, "multicast_packet_count"), _floats(intervals, "packet_count")
    columns = (waits, words, errors, multicast, packets)
    found = [np.full(shape, np.nan) for _ in columns]
    first = np.floor_divide(begin, SLOT_SECONDS).astype(np.int64)
    for step in range(int((np.ceil(end / SLOT_SECONDS) - first).max(initial=0))):
        slot = first + step
        overlap = np.minimum(end, (slot + 1) * SLOT_SECONDS) - np.maximum(begin, slot * SLOT_SECONDS)
        wanted = (overlap > 0) & (slot >= 0) & (slot < SLOTS)
        cells, share = (links * SLOTS + slot)[wanted], overlap[wanted] / length[wanted]
        for total, column in zip(found, columns, strict=True):
            part = _sums(cells, column[wanted] * share, shape)
            np.copyto(total, np.where(np.isnan(total), part, total + np.nan_to_num(part)))
    return found[0], found[1], found[2], found[3], found[4]


def _sums(cells: Integers, values: Floats, shape: tuple[int, int]) -> Floats:
    """Sums by cell; NaN where nothing is known."""
    known = ~np.isnan(values)
    size = shape[0] * shape[1]
    total = np.bincount(cells[known], weights=values[known], minlength=size)
    count = np.bincount(cells[known], minlength=size)
    return np.where(count > 0, total, np.nan).reshape(shape)


def _whole(cells: Floats) -> Floats:
    """Sums over the night; NaN where nothing is known."""
    return np.where(np.isnan(cells).all(axis=1), np.nan, np.nansum(cells, axis=1))


def _highest(cells: Floats) -> Floats:
    found = np.max(np.where(np.isnan(cells), -1, cells), axis=1, initial=-1)
    return np.where(found < 0, np.nan, found)


def _seconds(table: pa.Table, night: dt.date) -> Floats:
    """Seconds from the beginning of the night to the beginning of each row."""
    since = table["begin_at"].cast(pa.timestamp("us", "UTC")).cast(pa.int64()).to_numpy() / 1e6
    return np.asarray(since - dt.datetime.combine(night, dt.time(), dt.UTC).timestamp(), np.float64)


def _floats(table: pa.Table, name: str) -> Floats:
    return np.asarray(table[name].cast(pa.float64(), safe=False).to_numpy(), np.float64)


def _nullable(values: Floats) -> pa.Array:
    return pa.array(values, pa.float64(), mask=~np.isfinite(values))


def _rounded(values: Floats) -> pa.Array:
    known = np.isfinite(values)
    return pa.array(np.where(known, values, 0).round().astype(np.int64), pa.int64(), mask=~known)


def _blobs(levels: npt.NDArray[np.uint16]) -> pa.Array:
    """Rows of levels as bytes."""
    width = levels.shape[1] * levels.itemsize
    offsets = pa.py_buffer((np.arange(len(levels) + 1, dtype=np.int32) * width).tobytes())
    return pa.BinaryArray.from_buffers(pa.binary(), len(levels), [None, offsets, pa.py_buffer(levels.tobytes())])
