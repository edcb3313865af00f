"""Writes and merges the lake's Parquet files: zstd, row groups of the size that DuckDB scans in parallel."""

import os
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Final, Self

import pyarrow as pa
import pyarrow.parquet as pq

from iomine.lake.laid import laid
from iomine.schema.registry import arrow_schema
from iomine.units import MIB

# DuckDB hands out row groups to threads and writes them in this size itself.
ROW_GROUP_ROWS: Final = 122_880
# Rows of heat maps may be long.
_ROW_GROUP_BYTES: Final = 128 * MIB
_COMPRESSION_LEVEL: Final = 3
# Up to so many small row groups are scanned as fast as one full group.
_FEW: Final = 4

Partition = tuple[str, date]


@dataclass(frozen=True, slots=True)
class LakeFile:
    """A Parquet file of a table, committed or about to be.

    Attributes:
        table: the table's name.
        cluster: partition key, None for tables that have no partitions.
        night: partition key, None for tables that have no partitions.
        path: where it is.
        size_bytes: its size.
        row_count: its rows.
    """

    table: str
    cluster: str | None
    night: date | None
    path: Path
    size_bytes: int
    row_count: int

    @property
    def partition(self) -> Partition | None:
        """Cluster and night, None for tables that have no partitions."""
        return None if self.cluster is None or self.night is None else (self.cluster, self.night)


def replaced(files: Iterable[LakeFile], new: Sequence[LakeFile]) -> list[LakeFile]:
    """The files after new ones have replaced those of the same table and partition."""
    if not new:
        return list(files)
    # Asked of all files of a lake, many times in a sweep.
    gone = {(file.table, file.cluster, file.night) for file in new}
    return [*(file for file in files if (file.table, file.cluster, file.night) not in gone), *new]


def fills_row_group(row_count: int, size_bytes: int) -> bool:
    """Whether rows of this size fill a row group and should be written, not gathered in memory any longer."""
    return row_count >= ROW_GROUP_ROWS or size_bytes >= _ROW_GROUP_BYTES


class ParquetSink:
    """Writes rows of one table to a file, in full row groups and with bounded memory.

    The file has its name only once it is whole: until `close` it carries the suffix `.tmp`, and an exception removes it.

    Args:
        table: whose rows they are.
        path: of the file.
        notes: entries of its metadata in addition to the schema.
    """

    def __init__(self, table: str, path: Path, notes: Mapping[str, str] = MappingProxyType({})) -> None:
        self.table = table
        self.path = path
        self.row_count = 0
        self._schema = arrow_schema(table)
        self._pending: list[pa.Table] = []
        self._pending_rows = self._pending_bytes = 0
        self._unfinished = path.with_name(path.name + ".tmp")
        self._unfinished.parent.mkdir(parents=True, exist_ok=True)
        self._writer = pq.ParquetWriter(
            self._unfinished,
            self._schema,
            compression="zstd",
            compression_level=_COMPRESSION_LEVEL,
            # A dictionary of numbers is larger than the compressed numbers, and takes longer to write.
            use_dictionary=[column.name for column in self._schema if _is_text(column.type)],
        )
        self._writer.add_key_value_metadata(dict(notes))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def write(self, rows: pa.Table) -> None:
        """Adds rows; a row group is written whenever one is full."""
        self._pending.append(rows)
        self._pending_rows += rows.num_rows
        self._pending_bytes += rows.nbytes
        if fills_row_group(self._pending_rows, self._pending_bytes):
            self._flush()

    def _flush(self) -> None:
        # Labels of different logs index different lists of texts; a column chunk can have one list only.
        pending = pa.concat_tables(self._pending).cast(self._schema).unify_dictionaries()
        self._writer.write_table(pending, row_group_size=ROW_GROUP_ROWS)
        self.row_count += pending.num_rows
        self._pending, self._pending_rows, self._pending_bytes = [], 0, 0

    def close(self) -> None:
        """Finishes the file and gives it its name."""
        try:
            if self._pending:
                self._flush()
            self._writer.close()
            self._unfinished.replace(self.path)
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        """Removes the unfinished file."""
        # Closing writes the footer, which on a full disk fails once more.
        with suppress(OSError):
            self._writer.close()
        self._unfinished.unlink(missing_ok=True)

    def lake_file(self, cluster: str | None, night: date | None) -> LakeFile:
        """The finished file, as part of the given partition."""
        return LakeFile(self.table, cluster, night, self.path, self.path.stat().st_size, self.row_count)


def partition_folder(root: Path, table: str, cluster: str | None, night: date | None) -> Path:
    """Folder of a table's partition under a root, named as Hive does."""
    folder = root / table
    return folder if cluster is None or night is None else folder / f"cluster={cluster}" / f"night={night.isoformat()}"


def new_file_path(root: Path, table: str, cluster: str | None, night: date | None) -> Path:
    """A path that no other attempt will ever use."""
    return partition_folder(root, table, cluster, night) / f"part-{uuid.uuid4().hex}.parquet"


def write_file(root: Path, table: str, rows: pa.Table, cluster: str | None = None, night: date | None = None) -> LakeFile:
    """Writes rows as one file of a partition."""
    with ParquetSink(table, new_file_path(root, table, cluster, night)) as sink:
        sink.write(rows)
    return sink.lake_file(cluster, night)


def merge_files(root: Path, table: str, paths: Sequence[Path], cluster: str | None, night: date | None) -> LakeFile:
    """Makes one file out of several of the same table and partition, rows in the order of the files."""
    path = new_file_path(root, table, cluster, night)
    metadata = [pq.read_metadata(each) for each in paths]
    if _are_large(metadata) and laid(paths, path):
        return LakeFile(table, cluster, night, path, path.stat().st_size, sum(each.num_rows for each in metadata))
    with ParquetSink(table, path) as sink:
        for each in paths:
            for rows in row_groups(table, each):
                sink.write(rows)
    return sink.lake_file(cluster, night)


def _are_large(files: Sequence[pq.FileMetaData]) -> bool:
    """Whether row groups are so large, all in all, that nothing is gained by larger ones."""
    groups = [file.row_group(number) for file in files for number in range(file.num_row_groups)]
    row_count, size_bytes = sum(group.num_rows for group in groups), sum(group.total_byte_size for group in groups)
    return bool(groups) and fills_row_group(_FEW * row_count // len(groups), _FEW * size_bytes // len(groups))


def linked(root: Path, file: LakeFile, cluster: str | None) -> LakeFile:
    """The same bytes as a file of its own, of this cluster; the old one stays for readers of what was published before."""
    path = new_file_path(root, file.table, cluster, file.night)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(file.path, path)
    except OSError:
        # Some file systems have no links, or none from one folder to another.
        shutil.copyfile(file.path, path)
    return replace(file, cluster=cluster, path=path)


def _is_text(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_dictionary(type_))


def row_groups(table: str, path: Path) -> Iterator[pa.Table]:
    """The rows of a file, a row group at a time; columns that the file is older than are NULL in them."""
    empty = arrow_schema(table).empty_table()
    for batch in pq.ParquetFile(path).iter_batches(batch_size=ROW_GROUP_ROWS):
        rows = pa.concat_tables([empty, pa.Table.from_batches([batch])], promote_options="default")
        yield rows.select(empty.column_names)
