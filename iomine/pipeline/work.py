"""Units of work, as Dask workers run them: whole batches in, small manifests out."""

import threading
from collections.abc import Sequence
from pathlib import Path

from iomine.errors import UnreadableError
from iomine.lake import LakeFile, faults_told, merge_files
from iomine.pipeline.reader import Batch, BatchResult, Limits, Reader
from iomine.sources.darshan import Identity, identify

_local = threading.local()


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


def merge_all(partitions: Sequence[Sequence[LakeFile]], staging: Path) -> list[LakeFile]:
    """Makes the new files of partitions, each out of what is there already and then what was staged.

    Raises:
        WarehouseError: files cannot be read or written.
    """
    with faults_told(staging):
        return [_merged(files, staging) for files in partitions]


def _merged(files: Sequence[LakeFile], staging: Path) -> LakeFile:
    first = files[0]
    # A staged file that is alone is what it should become.
    if len(files) == 1:
        return first
    return merge_files(staging, first.table, [file.path for file in files], first.cluster, first.night)
