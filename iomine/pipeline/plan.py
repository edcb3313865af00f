"""Cuts work into batches by bytes: logs differ a thousandfold, so their number says little about their cost."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, TypeVar

from iomine.pipeline.reader import Batch
from iomine.sources.darshan import Identity
from iomine.units import MIB

T = TypeVar("T")

_LARGEST_BATCH_BYTES: Final = 16 * MIB
_SMALLEST_BATCH_BYTES: Final = 1 * MIB
_BATCHES_PER_WORKER: Final = 4
# What a log costs beyond its bytes, so that a folder of tiny logs is cut too.
_LOG_OVERHEAD_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class NewLog:
    """A log that is to be read."""

    path: str
    identity: Identity
    night: dt.date


def cut(items: Iterable[tuple[T, int]], bytes_per_batch: int) -> list[tuple[list[T], int]]:
    """Cuts a sequence of sized items where the sum of their sizes passes a bound; returns pieces and their sizes."""
    pieces: list[tuple[list[T], int]] = []
    piece: list[T] = []
    total = 0
    for item, size in items:
        piece.append(item)
        total += size + _LOG_OVERHEAD_BYTES
        if total >= bytes_per_batch:
            pieces.append((piece, total))
            piece, total = [], 0
    return [*pieces, (piece, total)] if piece else pieces


def bytes_per_batch(total_bytes: int, workers: int) -> int:
    """Bytes that keep all workers busy to the end, yet are worth a batch."""
    return min(_LARGEST_BATCH_BYTES, max(_SMALLEST_BATCH_BYTES, total_bytes // (workers * _BATCHES_PER_WORKER)))


def batches(cluster: str, logs: Sequence[NewLog], workers: int) -> list[Batch]:
    """Batches of one night each, the largest first, so that none is left over when the rest is done.

    Within a night a batch is a range of log ids, so that files laid end to end are sorted by them.
    """
    bound = bytes_per_batch(sum(log.identity.size_bytes for log in logs), workers)
    by_night = groupby(sorted(logs, key=lambda log: (log.night, log.identity.log_id)), key=lambda log: log.night)
    found = [
        Batch(cluster, night, tuple(logs_of_batch), size)
        for night, group in by_night
        for logs_of_batch, size in cut((((log.path, log.identity.log_id), log.identity.size_bytes) for log in group), bound)
    ]
    return sorted(found, key=lambda batch: -batch.size_bytes)
