"""What servers saw of the nights of a sweep: intervals between readings of their counters, and what logs met with.

An interval that ends in a night may have begun in the one before, and logs are compared with what was usual in the last 30
nights; so nights that get readings or logs are worked out from files of other nights too.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from iomine.lake import LakeFile, Partition, row_groups, write_file
from iomine.pipeline.judging.rollups import KNOWN
from iomine.pipeline.judging.spans import JUDGED_AT_ONCE, Span, spans, written
from iomine.pipeline.judging.steps import Steps, Task
from iomine.pipeline.judging.uncommitted import views_over
from iomine.schema.registry import arrow_schema

READINGS: Final = frozenset(("lustre_counter", "lustre_rate"))
SLOTS: Final = ("server_slot", "traffic_slot")
USUAL_NIGHTS: Final = 30
# Where file systems are mounted hardly ever changes.
_MOUNTED_NIGHTS: Final = 7
_OF_LOG: Final = ("log", "posix_file", "stdio_file", "dfs_file", "special_file", "file_name")
_SHAPE: Final = (*_OF_LOG, "lustre_component")
# For each table to compute: the tables that it reads, and how many nights before its own it reads of each.
LOOKED_BACK: Final[dict[str, dict[str, int]]] = {
    "server_interval": dict.fromkeys(READINGS, 1),
    "server_slot": dict.fromkeys(("server_interval", "log", "job", "owner_doubt"), USUAL_NIGHTS),
    "traffic_slot": {"server_interval": 0, "target_fullness": _MOUNTED_NIGHTS, **dict.fromkeys(_OF_LOG, 0)},
    "run_shape": dict.fromkeys(_SHAPE, 0),
    "run_usual": dict.fromkeys(("run_shape", "owner_doubt"), USUAL_NIGHTS),
    "weather": {
        **dict.fromkeys(("server_slot", "traffic_slot"), USUAL_NIGHTS),
        **dict.fromkeys(("log", "phase", "ost_io", "target_fullness"), 0),
    },
}
_ORDER: Final = {
    "server_interval": ("begin_at", "target"),
    "server_slot": ("begin_at", "target"),
    "traffic_slot": ("filesystem", "begin_at"),
    "run_shape": ("log_id",),
    "run_usual": ("log_id",),
    "weather": ("log_id",),
}


def interval_files(staging: Path, there: Sequence[LakeFile], touched: Iterable[Partition]) -> Steps[list[LakeFile]]:
    """Intervals of nights that got readings, and of the nights after, which begin with the last of these.

    Args:
        staging: the folder to write to.
        there: the files of all tables as they will be.
        touched: clusters and nights that got readings.
    """
    nights = {partition for cluster, night in touched for partition in ((cluster, night), (cluster, _later(night, 1)))}
    found = _nights(nights & _having(READINGS, there))
    return _files((yield _tasks(staging, "server_interval", there, found)))


def slot_files(staging: Path, there: Sequence[LakeFile], touched: Iterable[Partition]) -> Steps[list[LakeFile]]:
    """What jobs made targets do, and what all clients and logs moved on OSTs, in nights with new intervals, logs or jobs.

    Slots of nights whose logs have left stay as they are.
    """
    nights = set(touched) & _having({"server_interval"}, there)
    left = {view: _having({KNOWN}, there) & _having({view}, there) for view in SLOTS}
    return _files((yield [task for view in SLOTS for task in _tasks(staging, view, there, _nights(nights - left[view]))]))


def system_state_files(
    staging: Path,
    there: Sequence[LakeFile],
    touched: Iterable[Partition],
    at_once: int = JUDGED_AT_ONCE,
) -> Steps[list[LakeFile]]:
    """What the logs of nights met with, as far as servers were read then.

    Args:
        staging: the folder to write to.
        there: the files of all tables as they will be.
        touched: clusters and nights whose logs, or what servers did, are new.
        at_once: how many logs of a night are worked out together.
    """
    nights = set(touched) & _having({"server_slot"}, there)
    logs = [file for file in there if file.table == "log"]
    # Night by night, since a log is compared with what servers did in the nights before its own.
    found = [span for night in sorted(nights) for span in spans((file for file in logs if file.partition == night), at_once)]
    return _files((yield _tasks(staging, "weather", there, found)))


def run_files(staging: Path, there: Sequence[LakeFile], found: Sequence[Span]) -> Steps[list[LakeFile]]:
    """What the logs of nights did, and how long that took compared with runs of their lineages in earlier nights.

    Args:
        staging: the folder to write to.
        there: the files of all tables as they will be.
        found: all logs of some nights.
    """
    nights = {partition for span in found for partition in span.partitions}
    shapes = _files((yield _tasks(staging, "run_shape", there, found)))
    kept = [file for file in there if file.table != "run_shape" or file.partition not in nights]
    # A run is compared with others of its lineage, whose ids may be in any part of their nights.
    whole = dict.fromkeys(Span(span.cluster, span.nights, 0) for span in found)
    usual = _files((yield _tasks(staging, "run_usual", [*kept, *shapes], whole)))
    closed = _having({KNOWN}, there)
    after = {(cluster, _later(night, days)) for cluster, night in closed for days in range(1, USUAL_NIGHTS + 1)}
    return [*shapes, *(_with_kept(staging, there, file) if file.partition in after else file for file in usual)]


def _with_kept(staging: Path, there: Sequence[LakeFile], new: LakeFile) -> LakeFile:
    """A file of `run_usual`, with the old rows of runs that were compared with more runs than are still there."""
    before = _rows(file for file in there if (file.table, file.partition) == (new.table, new.partition))
    now = _rows([new])
    counts = dict(zip(now["log_id"].to_pylist(), now["lineage_run_count"].to_pylist(), strict=True))
    had = zip(before["log_id"].to_pylist(), before["lineage_run_count"].to_pylist(), strict=True)
    kept = before.filter(pa.array([count > counts.get(log_id, 0) for log_id, count in had], pa.bool_()))
    others = now.filter(pc.invert(pc.is_in(now["log_id"], value_set=kept["log_id"].combine_chunks())))
    return write_file(staging, new.table, pa.concat_tables([kept, others]).sort_by("log_id"), new.cluster, new.night)


def _rows(files: Iterable[LakeFile]) -> pa.Table:
    parts = [rows for file in files for rows in row_groups("run_usual", file.path)]
    return pa.concat_tables([arrow_schema("run_usual").empty_table(), *parts]).unify_dictionaries()


def _having(tables: Collection[str], files: Iterable[LakeFile]) -> set[Partition]:
    """Partitions with a file of one of the tables."""
    return {(file.cluster, file.night) for file in files if file.table in tables and file.cluster and file.night}


def _tasks(staging: Path, view: str, there: Iterable[LakeFile], found: Iterable[Span]) -> list[Task]:
    looked_back = LOOKED_BACK[view]
    by_partition = _by_partition(file for file in there if file.table in looked_back)
    return [
        partial(work_out, span, list(_files_of(span, by_partition, looked_back)), staging, view, _ORDER[view]) for span in found
    ]


def _files(results: Iterable[Sequence[LakeFile]]) -> list[LakeFile]:
    return list(chain.from_iterable(results))


def _files_of(
    span: Span, by_partition: Mapping[Partition, Sequence[LakeFile]], looked_back: Mapping[str, int]
) -> dict[LakeFile, None]:
    """The files of a span's nights and of the nights before that are looked back at, each once."""
    return dict.fromkeys(
        file
        for days in range(USUAL_NIGHTS + 1)
        for night in span.nights
        for file in by_partition.get((span.cluster, _later(night, -days)), ())
        if days <= looked_back[file.table]
    )


def work_out(span: Span, files: Iterable[LakeFile], staging: Path, view: str, order: Sequence[str]) -> list[LakeFile]:
    """Rows of a view of features about a night, or about logs of it.

    Args:
        span: the night, or its logs.
        files: all that the view reads.
        staging: the folder to write to.
        view: its name.
        order: columns that its rows are sorted by.
    """
    columns = ", ".join(f'"{name}"' for name in arrow_schema(view, with_partition_keys=True).names)

    def rows(span: Span) -> pa.Table:
        with views_over(files, [f"feature.{view}"]) as views:
            return views.ask(f"SELECT {columns} FROM feature.{view} WHERE {span.where}", span)  # noqa: S608  names of ours, and quoted values

    return written(staging, view, [span], rows, *order)


def _nights(partitions: Iterable[Partition]) -> list[Span]:
    return [Span(cluster, (night,), 0) for cluster, night in sorted(partitions)]


def _by_partition(files: Iterable[LakeFile]) -> dict[Partition, list[LakeFile]]:
    found: dict[Partition, list[LakeFile]] = defaultdict(list)
    for file in files:
        if partition := file.partition:
            found[partition].append(file)
    return found


def _later(night: date, days: int) -> date:
    return night + timedelta(days=days)
