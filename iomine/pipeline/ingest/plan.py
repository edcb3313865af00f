"""Cuts work into batches by bytes: logs differ a thousandfold, so their number says little about their cost."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, TypeVar

from iomine.pipeline.ingest.reader import Batch
from iomine.units import MIB

T = TypeVar("T")

_LARGEST_BATCH_BYTES: Final = 16 * MIB
_SMALLEST_BATCH_BYTES: Final = 1 * MIB
_BATCHES_PER_WORKER: Final = 4
# What a log costs beyond its bytes, so that a folder of tiny logs is cut too.
_LOG_OVERHEAD_BYTES: Final = 4096
# Starting our own workers takes 3 s, and more CPU time than one process needs to read this many bytes.
_LITTLE_BYTES: Final = 8 * MIB


@dataclass(frozen=True, slots=True)
class NewLog:
    """A log that is to be read.

    Attributes:
        path: where it is; of a run of several files, the first of them.
        log_id: the id under which the lake will know it.
        sha256: of its bytes, in hex.
        size_bytes: how many they are.
        night: under which it is kept.
        members: files of a run that was traced into files of their own, none of a log.
        file_state: digest of the file's path and state; None of a run, or where it is not to be remembered.
    """

    path: str
    log_id: str
    sha256: str
    size_bytes: int
    night: dt.date
    members: tuple[str, ...] = ()
    file_state: int | None = None


def cut(items: Iterable[tuple[T, int]], workers: int, later_bytes: int = 0) -> list[tuple[list[T], int]]:
    """Cuts a sequence of sized items into pieces that get ever smaller, so that workers end at about the same time.

    Args:
        items: each with its size in bytes.
        workers: how many are to share the pieces.
        later_bytes: size of what the workers do after these.

    Returns:
        Pieces and their sizes.
    """
    sized = [(item, size + _LOG_OVERHEAD_BYTES) for item, size in items]
    left = sum(size for _, size in sized)
    pieces: list[tuple[list[T], int]] = []
    piece: list[T] = []
    total = 0
    for item, size in sized:
        piece.append(item)
        total += size
        if total >= bytes_per_batch(left + later_bytes, workers):
            pieces.append((piece, total))
            left -= total
            piece, total = [], 0
    return [*pieces, (piece, total)] if piece else pieces


def is_little(sizes: Iterable[int]) -> bool:
    """Whether items of these sizes in bytes are done sooner by one process than workers for them have started."""
    return sum(size + _LOG_OVERHEAD_BYTES for size in sizes) <= _LITTLE_BYTES


def bytes_per_batch(left_bytes: int, workers: int) -> int:
    """Bytes of the next batch of what is left: a part of a worker's share, yet worth a batch.

    One worker alone has nobody to share with, and files of fewer batches are merged sooner.
    """
    if workers == 1:
        return _LARGEST_BATCH_BYTES
    return min(_LARGEST_BATCH_BYTES, max(_SMALLEST_BATCH_BYTES, left_bytes // (workers * _BATCHES_PER_WORKER)))


def batches(cluster: str, logs: Sequence[NewLog], workers: int) -> list[Batch]:
    """Batches of one night each, the largest first, so that none is left over when the rest is done.

    Within a night a batch is a range of log ids, so that files laid end to end are sorted by them.
    """
    later = sum(log.size_bytes + _LOG_OVERHEAD_BYTES for log in logs)
    members_of = {log.path: log.members for log in logs if log.members}
    found = []
    for night, group in groupby(sorted(logs, key=lambda log: (log.night, log.log_id)), key=lambda log: log.night):
        sized = [((log.path, log.log_id), log.size_bytes) for log in group]
        later -= sum(size + _LOG_OVERHEAD_BYTES for _, size in sized)
        for of_batch, size in cut(sized, workers, later):
            members = tuple((path, members_of[path]) for path, _ in of_batch if path in members_of)
            found.append(Batch(cluster, night, tuple(of_batch), size, members))
    return sorted(found, key=lambda batch: -batch.size_bytes)
