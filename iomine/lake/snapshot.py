"""What a lake holds as of one committed sweep."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq

from iomine.lake.files import LakeFile, replaced
from iomine.schema.registry import arrow_schema


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Versions of tables that belong together, and their data files.

    Attributes:
        versions: of every table; empty before the first sweep.
        files: of all tables.
    """

    versions: Mapping[str, int]
    files: tuple[LakeFile, ...]

    def of(self, *tables: str) -> list[LakeFile]:
        """The files of some tables."""
        return [file for file in self.files if file.table in tables]

    def rows(self, table: str) -> pa.Table:
        """All rows of a table that is small."""
        schema = arrow_schema(table)
        return pa.concat_tables([schema.empty_table(), *(pq.read_table(file.path, schema=schema) for file in self.of(table))])

    def after(
        self, table: str, version: int, files: Sequence[LakeFile], dropped: Collection[tuple[str, date]] = ()
    ) -> "Snapshot":
        """The snapshot once a table has new files in the places of those of the same partition, and is rid of dropped ones."""
        kept = (file for file in self.files if file.table != table or file.partition not in dropped)
        return Snapshot({**self.versions, table: version}, tuple(replaced(kept, files)))
