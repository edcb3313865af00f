"""Delta tables under one root, and which of their versions belong together.

Delta is atomic for one table only. A sweep commits its tables one by one and last a row of the table `sweep` that
names the version of every table: that row is the commit of the sweep. Tables that are ahead of it were left by a sweep
that died, and are rolled back before the next one begins (docs/decisions/commits.md).
"""

import json
import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Schema
from deltalake.transaction import AddAction, create_table_with_add_actions

from iomine.errors import WarehouseError
from iomine.lake.files import LakeFile, partition_folder
from iomine.schema import SCHEMA_VERSION, TABLES, UNSAID, mismatch, table
from iomine.schema.registry import arrow_schema

Pins = Mapping[str, int]

_COMMIT_POINT: Final = "sweep"
_VERSION_FILE: Final = "schema_version"
_HOURS_PER_DAY: Final = 24


class Lake:
    """The Delta tables of a warehouse.

    Args:
        root: folder that holds a folder for each table; made when the first table is.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def pins(self) -> Pins:
        """Version of every table as of the last sweep that was committed; empty before the first.

        Raises:
            WarehouseError: columns had another meaning to the program that wrote the lake.
        """
        if (opened := self._open(_COMMIT_POINT)) is None:
            return {}
        if fault := mismatch(self.root.parent, self._schema_version()):
            raise WarehouseError(fault)
        files = _files(self.root / _COMMIT_POINT, opened)
        # The last row, not the latest: a clock that was set back must not make the lake forget a sweep.
        last = pq.read_table(files[-1].path, columns=["table_versions"])["table_versions"][-1].as_py()
        pinned: dict[str, int] = json.loads(last)
        return pinned | {_COMMIT_POINT: opened.version()}

    def roll_back(self, staging: Path) -> list[str]:
        """Brings every table to the version of the last committed sweep.

        Args:
            staging: where tables that no committed sweep knows are put out of the way; to be cleared by the caller.

        Returns:
            The tables that were ahead.
        """
        pins = self.pins()
        ahead = []
        for name in TABLES:
            opened = self._open(name)
            if opened is None or opened.version() == pins.get(name):
                continue
            if name in pins:
                opened.restore(pins[name])
            else:
                # Deleted in place and killed meanwhile, it would be neither a table nor gone.
                staging.mkdir(parents=True, exist_ok=True)
                (self.root / name).rename(staging / f"{name}-{uuid.uuid4().hex}")
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

    def commit(self, name: str, files: Sequence[LakeFile], sweep_id: str, dropped: Collection[tuple[str, date]] = ()) -> int:
        """Replaces the partitions that the files belong to, all in one commit; a table without partitions is replaced whole.

        The files are moved into the table's folder, so what was never committed does not lie in the lake.

        Args:
            name: the table's name.
            files: its new files.
            sweep_id: whose they are.
            dropped: clusters and nights whose rows are to go, all of one cluster, which is that of the files too.

        Returns:
            The table's new version.
        """
        entry = table(name)
        schema = Schema.from_arrow(_plain(arrow_schema(name, with_partition_keys=True)))
        properties = CommitProperties(custom_metadata={"sweep_id": sweep_id})
        actions = [self._adopt(file) for file in files]
        partition_by = list(entry.partition_keys)
        if (opened := self._open(name)) is None:
            self.root.mkdir(parents=True, exist_ok=True)
            (self.root / _VERSION_FILE).write_text(f"{SCHEMA_VERSION}\n")
            create_table_with_add_actions(
                str(self.root / name), schema, actions, mode="error", partition_by=partition_by, commit_properties=properties
            )
            return 0
        partitions = {(file.cluster, file.night) for file in files if file.cluster and file.night}.union(dropped)
        nights = sorted({night.isoformat() for _, night in partitions})
        clusters = sorted({cluster for cluster, _ in partitions})
        opened.create_write_transaction(
            [*actions],
            mode="overwrite",
            schema=schema,
            partition_by=partition_by,
            partition_filters=[("cluster", "in", clusters), ("night", "in", nights)] if entry.partitioned else None,
            commit_properties=properties,
        )
        return DeltaTable(self.root / name).version()

    def vacuum(self, grace_days: int) -> None:
        """Deletes files that no version younger than the grace period needs, those of dead sweeps included."""
        for name in TABLES:
            if (opened := self._open(name)) is not None:
                opened.vacuum(
                    retention_hours=grace_days * _HOURS_PER_DAY, dry_run=False, enforce_retention_duration=False, full=True
                )

    def _schema_version(self) -> int:
        file = self.root / _VERSION_FILE
        return int(file.read_text()) if file.exists() else UNSAID

    def _open(self, name: str, version: int | None = None) -> DeltaTable | None:
        folder = self.root / name
        return DeltaTable(folder, version=version) if DeltaTable.is_deltatable(str(folder)) else None

    def _adopt(self, file: LakeFile) -> AddAction:
        partition: dict[str, str | None] = {}
        if file.cluster is not None and file.night is not None:
            partition = {"cluster": file.cluster, "night": file.night.isoformat()}
        place = partition_folder(self.root, file.table, file.cluster, file.night) / file.path.name
        place.parent.mkdir(parents=True, exist_ok=True)
        file.path.replace(place)
        return AddAction(
            path=str(place.relative_to(self.root / file.table)),
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
