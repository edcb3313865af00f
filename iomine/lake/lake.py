"""Delta tables under one root, and which of their versions belong together.

Delta is atomic for one table only. A sweep commits its tables one by one and last a row of the table `sweep` that
names the version of every table: that row is the commit of the sweep. Tables that are ahead of it were left by a sweep
that died, and are rolled back before the next one begins (docs/decisions/commits.md).
"""

import json
import time
import uuid
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from math import isqrt
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, PostCommitHookProperties, Schema
from deltalake.transaction import AddAction, create_table_with_add_actions

from iomine.errors import WarehouseError
from iomine.lake.files import LakeFile, partition_folder
from iomine.lake.snapshot import Snapshot
from iomine.schema import SCHEMA_VERSION, TABLES, UNSAID, mismatch, table
from iomine.schema.registry import arrow_schema

_COMMIT_POINT: Final = "sweep"
_VERSION_FILE: Final = "schema_version"
_HOURS_PER_DAY: Final = 24
_SECONDS_PER_DAY: Final = 86400
# A table is opened by reading its last checkpoint and the commits since, and each of these slows down all that is done with it.
# To make a checkpoint takes time in proportion to the table's files. Half the square root of their number keeps the sum of both
# least.
_FEWEST_COMMITS_PER_TIDYING: Final = 5
_LAST_CHECKPOINT: Final = "_delta_log/_last_checkpoint"
# Touched when unneeded files were looked for; to Delta, a name that begins with an underscore is no file of a table.
_LAST_VACUUM: Final = "_last_vacuum"
# How long commits stay after a checkpoint summed them up; replaced files stay as long.
_LOG_RETENTION: Final = {"delta.logRetentionDuration": "interval 7 days"}
# A commit is not yet the sweep's: a checkpoint of it could outlive the version to which a dead sweep is rolled back.
_NO_HOOKS: Final = PostCommitHookProperties(create_checkpoint=False, cleanup_expired_logs=False)


class Lake:
    """The Delta tables of a warehouse, for readers.

    Args:
        root: folder that holds a folder for each table; made when the first table is.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def version(self) -> int | None:
        """Version of the schema that the tables have, None before the first sweep."""
        if not self.is_committed():
            return None
        file = self.root / _VERSION_FILE
        return int(file.read_text()) if file.exists() else UNSAID

    def check_version(self) -> None:
        """Makes sure that this program knows what the columns mean.

        Raises:
            WarehouseError: they had another meaning to the program that wrote the lake.
        """
        version = self.version()
        if version is not None and (fault := mismatch(self.root.parent, version)):
            raise WarehouseError(fault)

    def set_version(self, version: int) -> None:
        """Says which version of the schema the tables have."""
        beside = self.root / f".{_VERSION_FILE}"
        beside.write_text(f"{version}\n")
        beside.replace(self.root / _VERSION_FILE)

    def is_committed(self) -> bool:
        """Whether a sweep has committed anything."""
        return DeltaTable.is_deltatable(str(self.root / _COMMIT_POINT))

    def snapshot(self) -> Snapshot:
        """The lake as of the last sweep that was committed; empty before the first.

        Raises:
            WarehouseError: columns had another meaning to the program that wrote the lake.
        """
        self.check_version()
        return self.snapshot_of_any_version()

    def snapshot_of_any_version(self) -> Snapshot:
        """As `snapshot`, of a lake whose columns need not mean what they mean to this program; its files may lack some."""
        if (commits := _opened(self.root / _COMMIT_POINT)) is None:
            return Snapshot({}, {})
        files = {_COMMIT_POINT: _files(self.root / _COMMIT_POINT, commits)}
        # Tables of other programs stay in the lake and out of sight.
        versions = {name: version for name, version in _pinned(files[_COMMIT_POINT]).items() if name in TABLES}
        for name, version in versions.items():
            if (there := _opened(self.root / name, version)) is not None:
                files[name] = _files(self.root / name, there)
        return Snapshot({**versions, _COMMIT_POINT: commits.version()}, files)


class LakeWriter:
    """The Delta tables of a lake, opened once each by the holder of the warehouse's lock.

    What a sweep that died has left is rolled back first.

    Args:
        lake: the lake.
        staging: where tables that no committed sweep knows are put out of the way; to be cleared by the caller.
        of_any_version: whether the caller will replace every table, and then set the version.

    Attributes:
        ahead: tables that were rolled back.

    Raises:
        WarehouseError: columns had another meaning to the program that wrote the lake, which is not to be upgraded.
    """

    def __init__(self, lake: Lake, staging: Path, *, of_any_version: bool = False) -> None:
        if not of_any_version:
            lake.check_version()
        self._lake = lake
        self._root = lake.root
        commits = _opened(lake.root / _COMMIT_POINT)
        pinned = _pinned(_files(lake.root / _COMMIT_POINT, commits)) if commits else {}
        held = _held_of(lake.root)
        # Tables of other programs stay as they are.
        tables = {
            name: there
            for name in TABLES
            if (there := commits if name == _COMMIT_POINT else held.opened(name, pinned.get(name))) is not None
        }
        self.ahead = [name for name, there in tables.items() if name != _COMMIT_POINT and there.version() != pinned.get(name, -1)]
        for name in self.ahead:
            if name in pinned:
                tables[name].restore(pinned[name])
            else:
                # Deleted in place and killed meanwhile, it would be neither a table nor gone.
                staging.mkdir(parents=True, exist_ok=True)
                (lake.root / name).rename(staging / f"{name}-{uuid.uuid4().hex}")
                del tables[name]
        self._tables = tables
        self._snapshot = Snapshot(
            {name: there.version() for name, there in tables.items()},
            {name: held.files(name, there) for name, there in tables.items()},
        )
        self._held = held

    @property
    def snapshot(self) -> Snapshot:
        """The tables as they are now: those of the last committed sweep, with what was committed here since."""
        return self._snapshot

    def commit(
        self,
        name: str,
        files: Sequence[LakeFile],
        sweep_id: str,
        dropped: Collection[tuple[str, date]] = (),
        *,
        is_whole: bool = False,
    ) -> None:
        """Replaces the partitions that the files belong to, all in one commit; a table without partitions is replaced whole.

        The files are moved into the table's folder, so what was never committed does not lie in the lake.

        Args:
            name: the table's name.
            files: its new files.
            sweep_id: whose they are.
            dropped: clusters and nights whose rows are to go, all of one cluster, which is that of the files too.
            is_whole: whether the files are all that the table will hold, of any cluster.
        """
        entry = table(name)
        schema = _delta_schema(name)
        properties = CommitProperties(custom_metadata={"sweep_id": sweep_id})
        adopted = [self._adopted(file) for file in files]
        actions = [self._action(file) for file in adopted]
        partition_by = list(entry.partition_keys)
        if (there := self._tables.get(name)) is None:
            self._root.mkdir(parents=True, exist_ok=True)
            # A new table in a lake of an older version does not make the lake newer.
            if not self._lake.is_committed():
                self._lake.set_version(SCHEMA_VERSION)
            create_table_with_add_actions(
                str(self._root / name),
                schema,
                actions,
                mode="error",
                partition_by=partition_by,
                configuration=_LOG_RETENTION,
                commit_properties=properties,
                post_commithook_properties=_NO_HOOKS,
            )
            self._tables[name] = there = DeltaTable(self._root / name)
        else:
            partitions = {partition for file in files if (partition := file.partition)}.union(dropped)
            nights = sorted({night.isoformat() for _, night in partitions})
            clusters = sorted({cluster for cluster, _ in partitions})
            there.create_write_transaction(
                [*actions],
                mode="overwrite",
                schema=schema,
                partition_by=partition_by,
                partition_filters=[("cluster", "in", clusters), ("night", "in", nights)]
                if entry.partitioned and not is_whole
                else None,
                commit_properties=properties,
                post_commithook_properties=_NO_HOOKS,
            )
            there.update_incremental()
        gone = {file.partition for file in self._snapshot.of(name) if file.partition} if is_whole else dropped
        self._snapshot = self._snapshot.after(name, there.version(), adopted, gone)
        self._held.keep(name, there, self._snapshot.of(name))

    def tidy(self, grace_days: int) -> None:
        """Deletes files, also of dead sweeps, that no version younger than the grace period needs, and writes checkpoints.

        A table is due once it has got some commits, or has got none for the grace period. Files and old commits are
        looked for by the first tidying after a day, since that lists a folder for each night.
        Only versions that a sweep has named get a checkpoint: otherwise the lake could not go back to the named version.
        Must be called before anything is committed.
        """
        for name, there in self._tables.items():
            files = self._snapshot.of(name)
            if not self._is_due(name, there.version(), len(files), grace_days):
                continue
            last_vacuum = self._root / name / _LAST_VACUUM
            if is_first := _is_older(last_vacuum, days=min(1, grace_days)):
                hours = grace_days * _HOURS_PER_DAY
                there.vacuum(retention_hours=hours, dry_run=False, enforce_retention_duration=False, full=True)
                last_vacuum.touch()
                # What is deleted is a commit too.
                there.update_incremental()
            if name not in self.ahead and there.version() > _summed_up(self._root / name):
                there.create_checkpoint()
                if is_first:
                    there.cleanup_metadata()
            # Opened again, since a table that was read commit by commit is also searched commit by commit.
            self._tables[name] = opened = DeltaTable(self._root / name)
            self._snapshot = self._snapshot.after(name, opened.version(), ())
            self._held.keep(name, opened, files)

    def _is_due(self, name: str, version: int, file_count: int, grace_days: int) -> bool:
        """Whether a table is to be tidied."""
        folder = self._root / name
        if version - _summed_up(folder) >= max(_FEWEST_COMMITS_PER_TIDYING, isqrt(file_count) // 2):
            return True
        return _is_older(_log_of(folder, version), days=grace_days)

    def _adopted(self, file: LakeFile) -> LakeFile:
        """The file, moved to its place in the lake."""
        place = partition_folder(self._root, file.table, file.cluster, file.night) / file.path.name
        place.parent.mkdir(parents=True, exist_ok=True)
        file.path.replace(place)
        return replace(file, path=place)

    def _action(self, file: LakeFile) -> AddAction:
        partition: dict[str, str | None] = {}
        if file.cluster is not None and file.night is not None:
            partition = {"cluster": file.cluster, "night": file.night.isoformat()}
        return AddAction(
            path=str(file.path.relative_to(self._root / file.table)),
            size=file.size_bytes,
            partition_values=partition,
            modification_time=int(time.time() * 1000),
            data_change=True,
            stats=json.dumps({"numRecords": file.row_count}),
        )


class _Held:
    """Tables of a lake as this process has read them, so that the next of many sweeps reads only what was committed since.

    To open the tables of a year and to list their files takes a second.

    Args:
        root: the lake's folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._tables: dict[str, tuple[tuple[int, int] | None, DeltaTable, int, Sequence[LakeFile]]] = {}

    def opened(self, name: str, version: int | None) -> DeltaTable | None:
        """A table, from what is held where its folder is the same one and it has the version that the last sweep names."""
        held = self._tables.get(name)
        if held is not None and held[0] == _identity(self.root / name):
            there = held[1]
            # To look for what came since takes as long as there are commits.
            if _log_of(self.root / name, there.version() + 1).exists():
                there.update_incremental()
            if there.version() == version:
                return there
        return _opened(self.root / name)

    def files(self, name: str, there: DeltaTable) -> list[LakeFile]:
        """Its files, in the order of their paths."""
        held = self._tables.get(name)
        if held is None or held[1] is not there or held[2] != there.version():
            self.keep(name, there, _files(self.root / name, there))
        return list(self._tables[name][3])

    def keep(self, name: str, there: DeltaTable, files: Sequence[LakeFile]) -> None:
        """Holds a table that has these files now."""
        self._tables[name] = (_identity(self.root / name), there, there.version(), sorted(files, key=lambda file: str(file.path)))


# Of one lake: a process seldom sweeps into several.
_last_held: list[_Held] = []


def _held_of(root: Path) -> _Held:
    if not _last_held or _last_held[0].root != root:
        _last_held[:] = [_Held(root)]
    return _last_held[0]


def _identity(folder: Path) -> tuple[int, int] | None:
    """Identifies the folder of a table's log; None if there is none."""
    try:
        status = (folder / "_delta_log").stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _log_of(folder: Path, version: int) -> Path:
    """Where a version of a table is logged."""
    return folder / "_delta_log" / f"{version:020}.json"


def _is_older(file: Path, *, days: int) -> bool:
    """Whether a file was written so many days ago or before, or is missing."""
    return not file.exists() or file.stat().st_mtime <= time.time() - days * _SECONDS_PER_DAY


def _opened(folder: Path, version: int | None = None) -> DeltaTable | None:
    return DeltaTable(folder, version=version) if DeltaTable.is_deltatable(str(folder)) else None


def _summed_up(folder: Path) -> int:
    """Version of a table's last checkpoint; 0 before the first."""
    file = folder / _LAST_CHECKPOINT
    return int(json.loads(file.read_text())["version"]) if file.exists() else 0


def _pinned(files: Sequence[LakeFile]) -> dict[str, int]:
    """Versions of tables that the last sweep in the files of its table names."""
    # The last row, not the latest: a clock that was set back must not make the lake forget a sweep.
    last = pq.read_table(files[-1].path, columns=["table_versions"])["table_versions"][-1].as_py()
    pinned: dict[str, int] = json.loads(last)
    return pinned


def _files(folder: Path, opened: DeltaTable) -> list[LakeFile]:
    rows = pa.table(opened.get_add_actions(flatten=True)).to_pylist()
    return [
        LakeFile(
            folder.name,
            row.get("partition.cluster"),
            row.get("partition.night"),
            folder / row["path"],
            row["size_bytes"],
            row["num_records"],
        )
        for row in sorted(rows, key=lambda row: row["path"])
    ]


@cache
def _delta_schema(name: str) -> Schema:
    """A table's schema as Delta knows it, which has no dictionaries."""
    schema = arrow_schema(name, with_partition_keys=True)
    plain = [field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field for field in schema]
    return Schema.from_arrow(pa.schema(plain))
