"""Nights that were judged before and get a few logs more: which logs are to be judged, and what still holds.

A log is judged by rows of its own, and by what its night shows of its version of Darshan. So what was worked out for a log holds
until the triggers change, or one of these rows does.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from iomine.lake import LakeFile, ParquetSink, Partition, row_groups, write_file
from iomine.lake.files import new_file_path
from iomine.pipeline.judging.definitions import notes_of
from iomine.schema import TABLES
from iomine.schema.registry import arrow_schema
from iomine.views.query import engine

# What features of logs need to know of all logs of their night.
OF_NIGHT: Final = "darshan_build"
VERDICT: Final = "verdict"
# If a larger share is to be judged, looking for what holds costs more than it saves.
_MOST_RATIO: Final = 0.5

_Files = dict[str, list[LakeFile]]


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables that judging reads and writes.

    Attributes:
        read: what logs are judged by.
        made: what is worked out for logs, verdicts among it.
        notes: of files of verdicts, from `judged_by`.
    """

    read: frozenset[str]
    made: frozenset[str]
    notes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Late:
    """What is to be judged again of a night that was judged before.

    Attributes:
        log_ids: logs to be judged.
        read: files of the tables that logs are judged by.
        judged: files of what was worked out before.
    """

    log_ids: frozenset[str]
    read: tuple[LakeFile, ...]
    judged: tuple[LakeFile, ...]

    def of_logs(self, staging: Path) -> list[LakeFile]:
        """Files of what the logs are judged by, and of nothing else; none where no log is to be judged."""
        if not self.log_ids:
            return []
        return [
            write_file(
                staging,
                table,
                _rows(table, files, None if table == OF_NIGHT else self.log_ids),
                files[0].cluster,
                files[0].night,
            )
            for table, files in _by_table(self.read).items()
        ]

    def beside(self, staging: Path, new: Sequence[LakeFile]) -> list[LakeFile]:
        """A file of each table with what was worked out for the logs, and what holds of the others.

        Args:
            staging: the folder to write to.
            new: what was worked out, of a table in several files where the logs were judged in parts.
        """
        judged_anew = pa.array(sorted(self.log_ids), pa.string())
        before = _by_table(self.judged)
        files = []
        for table, of_table in _by_table(new).items():
            first = of_table[0]
            path = new_file_path(staging, table, first.cluster, first.night)
            with ParquetSink(table, path, notes_of(first.path)) as sink:
                for file in before[table]:
                    for rows in row_groups(table, file.path):
                        sink.write(rows.filter(pc.invert(pc.is_in(rows["log_id"], judged_anew))))
                for file in of_table:
                    for rows in row_groups(table, file.path):
                        sink.write(rows)
            files.append(sink.lake_file(first.cluster, first.night))
        return files


def late_nights(
    lake: Iterable[LakeFile],
    there: Iterable[LakeFile],
    merged: Iterable[LakeFile],
    nights: Collection[Partition],
    tables: Tables,
) -> dict[Partition, Late]:
    """The nights of which only few logs must be judged, or none.

    Args:
        lake: the files of all tables before the sweep.
        there: the files of all tables as they will be, except for what is worked out for logs.
        merged: of these, those that got rows of logs and lost none.
        nights: clusters and nights to be judged.
        tables: what logs are judged by, and what is worked out for them.
    """
    before = _by_night((file for file in lake if file.table in tables.read or file.table in tables.made), nights)
    after = _by_night((file for file in there if file.table in tables.read), nights)
    merged_paths = {file.path for file in merged}
    found = {}
    for night in sorted(nights):
        judged = [file for file in before[night] if file.table in tables.made]
        old, new = _by_table(file for file in before[night] if file.table in tables.read), _by_table(after[night])
        if _is_whole(judged, _row_count(old["log"]), tables):
            log_ids = _to_judge(old, new, merged_paths)
            if log_ids is not None and len(log_ids) <= _MOST_RATIO * _row_count(new["log"]):
                found[night] = Late(frozenset(log_ids), tuple(after[night]), tuple(judged))
    return found


def _is_whole(judged: Sequence[LakeFile], logs: int, tables: Tables) -> bool:
    """Whether all logs of a night were judged by these triggers."""
    files = _by_table(judged)
    return (
        set(files) == tables.made
        and all(notes_of(file.path) == tables.notes for file in files[VERDICT])
        and all(_row_count(files[table]) == logs for table in tables.made if "is_complete" in TABLES[table].columns)
    )


def _to_judge(old: _Files, new: _Files, merged: Collection[Path]) -> set[str] | None:
    """Logs that are new, and logs whose rows to be judged by have changed; None if that concerns all logs, or may."""
    late = _log_ids(new["log"]) - _log_ids(old["log"])
    changed: set[str] = set()
    for table in old.keys() | new.keys():
        before, after = old[table], new[table]
        if {file.path for file in before} == {file.path for file in after}:
            continue
        if table == OF_NIGHT:
            if _seen(before) != _seen(after):
                return None
        elif all(file.path in merged for file in after):
            if _row_count(before) + _row_count_of(after, late) != _row_count(after):
                return None
        else:
            changed |= _changed(table, before, after)
    return late | changed


def _seen(files: Sequence[LakeFile]) -> dict[str | None, bool]:
    """For each version of Darshan, whether logs show that it counts calls of stat, which is all that features ask."""
    rows = _rows(OF_NIGHT, files)
    return dict(zip(rows["darshan_version"].to_pylist(), pc.greater(rows["stat_count"], 0).to_pylist(), strict=True))


def _changed(table: str, before: Sequence[LakeFile], after: Sequence[LakeFile]) -> set[str]:
    with engine() as con:
        con.register("old", _rows(table, before))
        con.register("new", _rows(table, after))
        differing = "(FROM old EXCEPT ALL FROM new) UNION ALL (FROM new EXCEPT ALL FROM old)"
        return {log_id for (log_id,) in con.execute(f"SELECT DISTINCT log_id FROM ({differing})").fetchall()}  # noqa: S608


def _rows(table: str, files: Iterable[LakeFile], log_ids: Collection[str] | None = None) -> pa.Table:
    """Rows of files of a table, in all of its columns; only those of these logs where some are given."""
    empty = arrow_schema(table).empty_table()
    wanted = None if log_ids is None else pc.field("log_id").isin(pa.array(sorted(log_ids), pa.string()))
    found = [pq.read_table(file.path, filters=wanted, partitioning=None) for file in files]
    return pa.concat_tables([empty, *found], promote_options="default").select(empty.column_names)


def _log_ids(files: Iterable[LakeFile]) -> set[str]:
    return {log_id for file in files for log_id in _column_of_ids(file).to_pylist()}


def _row_count_of(files: Iterable[LakeFile], log_ids: Collection[str]) -> int:
    theirs = pa.array(sorted(log_ids), pa.string())
    return sum(pc.sum(pc.is_in(_column_of_ids(file), theirs)).as_py() or 0 for file in files)


def _column_of_ids(file: LakeFile) -> pa.ChunkedArray:
    return pq.read_table(file.path, columns=["log_id"], partitioning=None)["log_id"]


def _row_count(files: Iterable[LakeFile]) -> int:
    return sum(file.row_count for file in files)


def _by_night(files: Iterable[LakeFile], nights: Collection[Partition]) -> dict[Partition, list[LakeFile]]:
    found: dict[Partition, list[LakeFile]] = {night: [] for night in nights}
    for file in files:
        if file.partition in found:
            found[file.partition].append(file)
    return found


def _by_table(files: Iterable[LakeFile]) -> _Files:
    found: _Files = defaultdict(list)
    for file in files:
        found[file.table].append(file)
    return found
