"""Makes the new files of every partition that got rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow.compute as pc
import pyarrow.parquet as pq

from iomine.lake import LakeFile, Partition
from iomine.pipeline import progress
from iomine.pipeline.ingest import plan
from iomine.pipeline.ingest.work import merge_all
from iomine.pipeline.stages.context import Sweep
from iomine.pipeline.stages.read import Staged
from iomine.schema.registry import arrow_schema
from iomine.units import MIB

# A worker merges so much in seconds, and a scan does not notice that a night is in files of this size.
LARGE_BYTES: Final = 128 * MIB


@dataclass(frozen=True, slots=True)
class Merged:
    """The new files of partitions.

    Attributes:
        staged: what was read.
        files: those of each table and partition that got rows, old rows included.
    """

    staged: Staged
    files: tuple[LakeFile, ...]


def merge(sweep: Sweep, staged: Staged) -> Merged:
    """Merges staged files with those that are there, but for those that are large: to write them again would gain nothing.

    Raises:
        WarehouseError: files cannot be read or written.
        WorkersError: workers were lost.
    """
    if not staged.files:
        return Merged(staged, ())
    there: dict[tuple[str, Partition | None], list[LakeFile]] = {}
    touched = {(file.table, file.partition) for file in staged.files}
    for file in [*staged.identified.found.snapshot.files, *sorted(staged.files, key=_first)]:
        if (partition := (file.table, file.partition)) in touched:
            there.setdefault(partition, []).append(file)
    merges = [(piece, sum(file.size_bytes for file in piece)) for files in there.values() for piece in _pieces(files)]
    merges.sort(key=lambda merge: -merge[1])
    workers = sweep.pool.workers(is_little=plan.is_little(size for _, size in merges))
    pieces = [piece for piece, _ in plan.cut(merges, workers.capacity())]
    merged: list[LakeFile] = []
    done = 0
    for piece, files in workers.map(merge_all, pieces, sweep.staging):
        merged += files
        done += len(piece)
        progress.report("merge", done, len(merges))
    return Merged(staged, tuple(merged))


def _pieces(files: Sequence[LakeFile]) -> Iterator[tuple[LakeFile, ...]]:
    """Files of a partition that become one, in their order: each large one alone, and others until they make a large one."""
    piece: list[LakeFile] = []
    for file in files:
        if file.size_bytes >= LARGE_BYTES:
            yield (file,)
            continue
        piece.append(file)
        if sum(small.size_bytes for small in piece) >= LARGE_BYTES:
            yield tuple(piece)
            piece = []
    if piece:
        yield tuple(piece)


def _first(file: LakeFile) -> str:
    """What is least in a staged file's first column, such as the log id, by which files are laid end to end."""
    first, *_ = arrow_schema(file.table).names
    return str(pc.min(pq.read_table(file.path, columns=[first])[first]).as_py())
