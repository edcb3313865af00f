"""What a lake holds as of one committed sweep."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain

import pyarrow as pa
import pyarrow.parquet as pq

from iomine.lake.files import LakeFile, replaced
from iomine.schema.registry import arrow_schema


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Versions of tables that belong together, and their data files.

    Attributes:
        versions: of every table; empty before the first sweep.
        by_table: files of every table that has any.
    """

    versions: Mapping[str, int]
    by_table: Mapping[str, Sequence[LakeFile]]

    @property
    def files(self) -> tuple[LakeFile, ...]:
        """The files of all tables."""
        return tuple(chain.from_iterable(self.by_table.values()))

    def of(self, *tables: str) -> list[LakeFile]:
        """The files of some tables."""
        return [file for table in tables for file in self.by_table.get(table, ())]

    def rows(self, table: str) -> pa.Table:
        """All rows of a table that is small."""
        schema = arrow_schema(table)
        return pa.concat_tables([schema.empty_table(), *(pq.read_table(file.path, schema=schema) for file in self.of(table))])

    def between(self, first: date, last: date) -> "Snapshot":
        """The snapshot without files of nights before the first and after the last."""
        kept = {
            table: [file for file in files if file.night is None or first <= file.night <= last]
            for table, files in self.by_table.items()
        }
        return Snapshot(self.versions, kept)

    def after(
        self, table: str, version: int, files: Sequence[LakeFile], dropped: Collection[tuple[str, date]] = ()
    ) -> "Snapshot":
        """The snapshot after new files of a table have replaced those of the same partition, without the dropped ones."""
        kept = (file for file in self.of(table) if file.partition not in dropped)
        return Snapshot({**self.versions, table: version}, {**self.by_table, table: replaced(kept, files)})
