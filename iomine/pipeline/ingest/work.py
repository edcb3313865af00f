"""Units of work, as Dask workers run them: whole batches in, small manifests out."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from iomine.errors import UnreadableError, WarehouseError
from iomine.lake import LakeFile, as_warehouse_errors, linked, merge_files
from iomine.pipeline.ingest.reader import Batch, BatchResult, Limits, Reader, Refused
from iomine.pipeline.ingest.statistics import InputBatch, InputsResult
from iomine.pipeline.workers.model import Smaller
from iomine.sources.darshan import Identity, identify

_DEADLY: Final = "Every worker that read it died, one after the other."

_local = threading.local()


def identify_all(paths: Sequence[str]) -> list[Identity | UnreadableError]:
    """What each candidate is, or why it cannot be looked at."""
    return [_identify(path) for path in paths]


def _identify(path: str) -> Identity | UnreadableError:
    try:
        return identify(Path(path))
    except UnreadableError as error:
        return error
    except OSError as error:
        return UnreadableError(f"The file cannot be looked at: {error.strerror}.", False)


def read_batch(batch: Batch, staging: Path, limits: Limits) -> BatchResult:
    """Reads a batch in a process of its own, which stays for the next batch of this thread.

    Raises:
        WarehouseError: the staged files cannot be written.
    """
    _check_shared(staging)
    if getattr(_local, "limits", None) != limits:
        _local.reader, _local.limits = Reader(limits), limits
    reader: Reader = _local.reader
    return reader.read(batch, staging)


@contextmanager
def reader_closed() -> Iterator[None]:
    """Ends the process that reads for this thread, if there is one, with the context."""
    try:
        yield
    finally:
        if getattr(_local, "limits", None) is not None:
            _local.reader.close()
            _local.limits = None


def after_deaths(batch: Batch) -> Smaller[Batch] | BatchResult:
    """What to do with a batch that killed its workers: try its halves, or refuse the log if there is only one.

    A log that crashes its reader does not come here. A log that makes the system end its reader's worker does.
    """
    if len(batch.logs) == 1:
        return BatchResult((), 0, (Refused(batch.logs[0][0], _DEADLY, is_final=False),))
    middle, size = len(batch.logs) // 2, batch.size_bytes // 2
    return Smaller(tuple(replace(batch, logs=logs, size_bytes=size) for logs in (batch.logs[:middle], batch.logs[middle:])))


def after_input_deaths(batch: InputBatch) -> Smaller[InputBatch] | InputsResult:
    """What to do with inputs that killed their workers: try the halves, or refuse the input if there is only one."""
    if len(batch.inputs) == 1:
        return InputsResult((), (), ((batch.inputs[0], UnreadableError(_DEADLY, is_final=False)),))
    middle = len(batch.inputs) // 2
    return Smaller(tuple(replace(batch, inputs=inputs) for inputs in (batch.inputs[:middle], batch.inputs[middle:])))


def merge_all(pieces: Sequence[Sequence[LakeFile]], staging: Path) -> list[LakeFile]:
    """Makes the new files of partitions, each out of files of one partition that are in the lake or were staged.

    Raises:
        WarehouseError: files cannot be read or written.
    """
    _check_shared(staging)
    with as_warehouse_errors(staging):
        return [_merged(files, staging) for files in pieces]


def _merged(files: Sequence[LakeFile], staging: Path) -> LakeFile:
    first = files[0]
    if len(files) == 1:
        # A commit replaces a partition, so an unchanged file needs a new name.
        return first if first.path.is_relative_to(staging) else linked(staging, first, first.cluster)
    return merge_files(staging, first.table, [file.path for file in files], first.cluster, first.night)


def _check_shared(staging: Path) -> None:
    """Makes sure that this worker sees what the sweep sees: otherwise it would write to a folder of its own."""
    if not staging.is_dir():
        raise WarehouseError(
            f"The worker on {socket.gethostname()} does not see {staging}: keep the warehouse where all workers see it."
        )
