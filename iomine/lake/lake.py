"""Delta tables under one root, and which of their versions belong together.

Delta is atomic for one table only. A sweep commits its tables one by one and last a row of the table `sweep` that
names the version of every table: that row is the commit of the sweep. Tables that are ahead of it were left by a sweep
that died, and are rolled back before the next one begins (docs/decisions/commits.md).
"""

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Schema
from deltalake.transaction import AddAction, create_table_with_add_actions

from iomine.lake.files import LakeFile
from iomine.schema import TABLES, table
from iomine.schema.registry import arrow_schema

Pins = Mapping[str, int]

_COMMIT_POINT: Final = "sweep"
_HOURS_PER_DAY: Final = 24


class Lake:
    """The Delta tables of a warehouse.

    Args:
        root: folder that holds a folder for each table; made when the first table is.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def pins(self) -> Pins:
        """Version of every table as of the last sweep that was committed; empty before the first."""
        if (opened := self._open(_COMMIT_POINT)) is None:
            return {}
        files = _files(self.root / _COMMIT_POINT, opened)
        rows = pa.concat_tables(pq.read_table(file.path, columns=["end_at", "table_versions"]) for file in files)
        last = max(rows.to_pylist(), key=lambda row: row["end_at"])
        pinned: dict[str, int] = json.loads(last["table_versions"])
        return pinned | {_COMMIT_POINT: opened.version()}

    def roll_back(self) -> list[str]:
        """Brings every table to the version of the last committed sweep; returns the tables that were ahead."""
        pins = self.pins()
        ahead = []
        for name in TABLES:
            opened = self._open(name)
            if opened is None or opened.version() == pins.get(name):
                continue
            if name in pins:
                opened.restore(pins[name])
            else:
                shutil.rmtree(self.root / name)
            ahead.append(name)
        return ahead

    def versions(self) -> dict[str, int]:
        """Version of every table that exists, as it stands now."""
        opened = {name: self._open(name) for name in TABLES}
        return {name: table.version() for name, table in opened.items() if table is not None}

    def files(self, pins: Pins) -> list[LakeFile]:
        """Data files of every pinned table at its version."""
        found = []
        for name, version in pins.items():
            if (opened := self._open(name, version)) is not None:
                found += _files(self.root / name, opened)
        return found

    def commit(self, name: str, files: Sequence[LakeFile], sweep_id: str) -> int:
        """Replaces the partitions that the files belong to, all in one commit; a table without partitions is replaced whole.

        Returns:
            The table's new version.
        """
        entry = table(name)
        schema = Schema.from_arrow(_plain(arrow_schema(name, with_partition_keys=True)))
        properties = CommitProperties(custom_metadata={"sweep_id": sweep_id})
        actions = [self._add(file) for file in files]
        partition_by = list(entry.partition_keys)
        if (opened := self._open(name)) is None:
            create_table_with_add_actions(
                str(self.root / name), schema, actions, mode="error", partition_by=partition_by, commit_properties=properties
            )
            return 0
        nights = sorted({file.night.isoformat() for file in files if file.night})
        clusters = sorted({file.cluster for file in files if file.cluster})
        opened.create_write_transaction(
            [*actions],
            mode="overwrite",
            schema=schema,
            partition_by=partition_by,
            partition_filters=[("cluster", "in", clusters), ("night", "in", nights)] if entry.partitioned else None,
            commit_properties=properties,
        )
        return DeltaTable(self.root / name, without_files=True).version()

    def vacuum(self, grace_days: int) -> None:
        """Deletes files that no version younger than the grace period needs, those of dead sweeps included."""
        for name in TABLES:
            if (opened := self._open(name)) is not None:
                opened.vacuum(
                    retention_hours=grace_days * _HOURS_PER_DAY, dry_run=False, enforce_retention_duration=False, full=True
                )

    def _open(self, name: str, version: int | None = None) -> DeltaTable | None:
        folder = self.root / name
        return DeltaTable(folder, version=version) if DeltaTable.is_deltatable(str(folder)) else None

    def _add(self, file: LakeFile) -> AddAction:
        partition: dict[str, str | None] = {}
        if file.cluster is not None and file.night is not None:
            partition = {"cluster": file.cluster, "night": file.night.isoformat()}
        return AddAction(
            path=str(file.path.relative_to(self.root / file.table)),
            size=file.size_bytes,
            partition_values=partition,
            modification_time=int(time.time() * 1000),
            data_change=True,
            stats=json.dumps({"numRecords": file.row_count}),
        )


def _files(folder: Path, opened: DeltaTable) -> list[LakeFile]:
    rows = pa.table(opened.get_add_actions(flatten=True)).to_pylist()
    files = [
        LakeFile(
            folder.name,
            row.get("partition.cluster"),
            row.get("partition.night"),
            folder / row["path"],
            row["size_bytes"],
            row["num_records"],
        )
        for row in rows
    ]
    return sorted(files, key=lambda file: file.path)


def _plain(schema: pa.Schema) -> pa.Schema:
    """The schema as Delta knows it, which has no dictionaries."""
    return pa.schema(
        [field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field for field in schema]
    )
