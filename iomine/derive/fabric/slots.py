"""What moved over each directed link in ten minutes: all, as ports count, storage traffic, as logs have it, and the rest."""

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from iomine.derive.columns import counts
from iomine.derive.fabric.graph import PORTS
from iomine.derive.fabric.intervals import link_classes
from iomine.derive.trace import Floats, Integers
from iomine.schema.registry import arrow_schema

SLOT_SECONDS: Final = 600
_MICROSECONDS: Final = 1_000_000
# As in traffic_slot: what was counted over more than a day says nothing of ten minutes.
_LONGEST_SECONDS: Final = 86_400
# Logs may have a tenth more than was counted, since nobody knows to the second when they moved it.
_EXCESS: Final = 1.1


def link_slots(intervals: pa.Table, moved: pa.Table, first: int, end: int) -> pa.Table:
    """Rows of `link_slot` for slots that begin in a stretch of time.

    What an interval holds is spread evenly over its slots. Of a slot that readings cover in part, that part of the logs'
    bytes is compared with what was counted.

    Args:
        intervals: rows of `link_interval`.
        moved: rows of `job_link`.
        first: when the first slot begins, seconds since 1970, a multiple of 600.
        end: when the slot after the last begins.
    """
    schema = arrow_schema("link_slot")
    intervals = (
        _known(intervals).filter(pc.field("interval_seconds") <= _LONGEST_SECONDS).filter(pc.field("interval_seconds") > 0)
    )
    intervals, moved = intervals.filter(pc.is_valid(intervals["moved_bytes"])), _known(moved)
    guids = pc.dictionary_encode(pa.chunked_array([*intervals["guid"].chunks, *moved["guid"].chunks], pa.string()))
    codes = guids.combine_chunks().indices.to_numpy().astype(np.int64)
    ports = np.concatenate([table["port"].to_numpy() for table in (intervals, moved)])
    links, link_of = np.unique(codes * (PORTS * PORTS) + ports, return_inverse=True)
    slots = max((end - first) // SLOT_SECONDS, 0)
    rows, slot_of, parts, seconds = _slotted(intervals, first, slots)
    cells = link_of[: len(intervals)][rows] * slots + slot_of
    at = moved["begin_at"].cast(pa.int64()).to_numpy() // _MICROSECONDS
    is_in = (at >= first) & (at < end)
    stored = (link_of[len(intervals) :] * slots + (at - first) // SLOT_SECONDS)[is_in]
    found, cell_of = np.unique(np.concatenate([cells, stored]), return_inverse=True)
    if not len(found):
        return schema.empty_table()
    of_counted, of_stored = np.split(cell_of, [len(cells)])
    counted, covered = (np.bincount(of_counted, weights, len(found)) for weights in (parts, seconds))
    storage = np.bincount(of_stored, moved["moved_bytes"].to_numpy()[is_in], len(found))
    capacity = np.full(len(found), np.nan)
    capacity[of_counted] = intervals["capacity_bytes_per_second"].to_numpy(zero_copy_only=False)[rows]
    is_counted = covered > 0
    counted = np.where(is_counted, counted, np.nan)
    met = storage * np.minimum(covered / SLOT_SECONDS, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        utilisation = counted / (capacity * covered)
    example = np.empty(len(links), np.int64)
    example[link_of[::-1]] = np.arange(len(link_of))[::-1]
    rows = pa.array(example[found // slots])
    link_ids = pa.chunked_array([*intervals["link_id"].chunks, *moved["link_id"].chunks], pa.string())
    begins = (first + found % slots * SLOT_SECONDS) * _MICROSECONDS
    return pa.table(
        {
            "begin_at": pa.array(begins, pa.timestamp("us", tz="UTC")),
            "link_id": link_ids.take(rows),
            "guid": guids.cast(pa.string()).take(rows),
            "port": links[found // slots] % (PORTS * PORTS),
            "counted_bytes": counts(np.rint(counted)),
            "storage_bytes": counts(storage),
            "other_bytes": counts(np.rint(np.maximum(counted - met, 0))),
            "covered_seconds": covered,
            "capacity_bytes_per_second": pa.array(capacity, mask=np.isnan(capacity)),
            "utilisation_ratio": pa.array(utilisation, mask=~np.isfinite(utilisation)),
            "link_class": link_classes(utilisation),
            "log_count": _logs(moved.filter(pa.array(is_in)), of_stored, len(found)),
            "exceeds_counted": pa.array(met > _EXCESS * counted, mask=~is_counted),
        }
    ).cast(schema)


def _known(table: pa.Table) -> pa.Table:
    return table.filter(pc.is_valid(table["guid"])).filter(pc.field("port") >= 0)


def _slotted(intervals: pa.Table, first: int, slots: int) -> tuple[Integers, Integers, Floats, Floats]:
    """Intervals taken apart by slots: the row of each part, its slot, and its bytes and seconds."""
    begins = intervals["begin_at"].cast(pa.int64()).to_numpy() / _MICROSECONDS - first
    seconds = intervals["interval_seconds"].to_numpy()
    ends = begins + seconds
    firsts = np.maximum(np.floor(begins / SLOT_SECONDS).astype(np.int64), 0)
    lasts = np.minimum(np.ceil(ends / SLOT_SECONDS).astype(np.int64), slots)
    sizes = np.maximum(lasts - firsts, 0)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    slot_of = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes - firsts, sizes)
    begins, ends = np.maximum(begins[rows], slot_of * SLOT_SECONDS), np.minimum(ends[rows], (slot_of + 1) * SLOT_SECONDS)
    return rows, slot_of, intervals["moved_bytes"].to_numpy()[rows] * ((ends - begins) / seconds[rows]), ends - begins


def _logs(moved: pa.Table, cells: Integers, count: int) -> Integers:
    """How many logs moved something in each cell."""
    logs = pc.dictionary_encode(moved["log_id"]).combine_chunks().indices.to_numpy().astype(np.int64)
    pairs = np.unique(cells * (int(logs.max(initial=0)) + 1) + logs)
    return np.bincount(pairs // (int(logs.max(initial=0)) + 1), minlength=count)
