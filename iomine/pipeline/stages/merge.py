"""Makes the new files of every partition that got rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow.parquet as pq

from iomine.lake import LakeFile, Partition
from iomine.pipeline import progress
from iomine.pipeline.ingest import plan
from iomine.pipeline.ingest.work import merge_all
from iomine.pipeline.stages.context import Sweep
from iomine.pipeline.stages.read import Staged
from iomine.units import MIB

# A worker merges so much in seconds, and a scan does not notice that a night is in files of this size.
LARGE_BYTES: Final = 128 * MIB
# To write a file of this size takes no longer than to open it.
LITTLE_BYTES: Final = MIB
# A file is written again if it is at most so many times as large as what is merged with it.
GROWTH: Final = 4


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
    """Merges staged files with existing ones, except for existing files so large that writing them again would gain nothing.

    Raises:
        WarehouseError: files cannot be read or written.
        WorkersError: workers were lost.
    """
    if not staged.files:
        return Merged(staged, ())
    old: dict[tuple[str, Partition | None], list[LakeFile]] = {(file.table, file.partition): [] for file in staged.files}
    new = {place: list[LakeFile]() for place in old}
    for file in staged.identified.found.snapshot.files:
        if (place := (file.table, file.partition)) in old:
            old[place].append(file)
    for file in sorted(staged.files, key=_first):
        new[file.table, file.partition].append(file)
    pieces_of = (_pieces(old[place], new[place]) for place in old)
    merges = [(piece, _to_merge_bytes(piece)) for pieces in pieces_of for piece in pieces]
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


def _pieces(old: Sequence[LakeFile], new: Sequence[LakeFile]) -> Iterator[tuple[LakeFile, ...]]:
    """Files of a partition that become one, in their order; a file that is alone keeps its bytes.

    Old files stay alone if they are large, or much larger than what would be merged with them. So a row is written again as often
    as its night grows severalfold, and a night has few files.
    """
    size = sum(file.size_bytes for file in new)
    merged = set()
    for file in sorted(old, key=lambda file: file.size_bytes):
        if file.size_bytes >= LARGE_BYTES or file.size_bytes > max(LITTLE_BYTES, GROWTH * size):
            break
        merged.add(file.path)
        size += file.size_bytes
    yield from ((file,) for file in old if file.path not in merged)
    piece: list[LakeFile] = []
    for file in [*(file for file in old if file.path in merged), *new]:
        if file.size_bytes >= LARGE_BYTES:
            yield (file,)
            continue
        piece.append(file)
        if sum(small.size_bytes for small in piece) >= LARGE_BYTES:
            yield tuple(piece)
            piece = []
    if piece:
        yield tuple(piece)


def _to_merge_bytes(piece: Sequence[LakeFile]) -> int:
    return sum(file.size_bytes for file in piece) if len(piece) > 1 else 0


def _first(file: LakeFile) -> str:
    """The least value in a staged file's first column, such as the log id; files are put in order by it."""
    metadata = pq.read_metadata(file.path)
    # A night has thousands of these files, and to read the column takes seven times as long.
    found = (metadata.row_group(number).column(0).statistics for number in range(metadata.num_row_groups))
    return str(min((each.min for each in found if each is not None and each.has_min_max), default=None))
