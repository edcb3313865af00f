"""Units of work, as Dask workers run them: whole batches in, small manifests out."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from iomine.errors import UnreadableError
from iomine.lake import LakeFile, merge_files
from iomine.pipeline.reader import Batch, BatchResult, Limits, Reader
from iomine.sources.darshan import Identity, identify

_local = threading.local()


@dataclass(frozen=True, slots=True)
class Merge:
    """Files of one partition of one table that are to become one.

    Attributes:
        root: the lake's root.
        files: what is there already, then what was staged, each in its order.
    """

    root: Path
    files: tuple[LakeFile, ...]


def identify_all(paths: Sequence[str]) -> list[Identity | UnreadableError]:
    """What each candidate is, or why it cannot be looked at."""
    return [_identify(path) for path in paths]


def _identify(path: str) -> Identity | UnreadableError:
    try:
        return identify(Path(path))
    except UnreadableError as error:
        return error


def read_batch(batch: Batch, staging: Path, limits: Limits) -> BatchResult:
    """Reads a batch in a process of its own, which stays for the next batch of this thread.

    Raises:
        WarehouseError: the staged files cannot be written.
    """
    if getattr(_local, "limits", None) != limits:
        _local.reader, _local.limits = Reader(limits), limits
    reader: Reader = _local.reader
    return reader.read(batch, staging)


def merge_all(merges: Sequence[Merge]) -> list[LakeFile]:
    """Makes the new files of partitions."""
    return [_merge(merge) for merge in merges]


def _merge(merge: Merge) -> LakeFile:
    first = merge.files[0]
    return merge_files(merge.root, first.table, [file.path for file in merge.files], first.cluster, first.night)
