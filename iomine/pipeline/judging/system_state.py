"""What servers saw of the nights of a sweep: intervals between readings of their counters, and what logs met with.

An interval that ends in a night may have begun in the one before, and logs are held against what was usual in the last 30
nights; so nights that get readings or logs are worked out from files of other nights too.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Final

import pyarrow as pa

from iomine.lake import LakeFile, Partition
from iomine.pipeline.judging.spans import JUDGED_AT_ONCE, Span, shared, spans, written
from iomine.pipeline.judging.uncommitted import views_over
from iomine.pipeline.workers.model import Workers
from iomine.schema.registry import arrow_schema

READINGS: Final = frozenset(("lustre_counter", "lustre_rate"))
USUAL_NIGHTS: Final = 30
# Where file systems are mounted hardly ever changes.
_MOUNTED_NIGHTS: Final = 7
_OF_LOG: Final = ("log", "posix_file", "stdio_file", "dfs_file", "special_file", "file_name")
_SHAPE: Final = (*_OF_LOG, "lustre_component")
# By what is worked out, the tables that it reads, and nights before its own of which it reads them.
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


def interval_files(staging: Path, there: Sequence[LakeFile], touched: Iterable[Partition]) -> list[LakeFile]:
    """Intervals of nights that got readings, and of the nights after, which begin with the last of these.

    Args:
        staging: the folder to write to.
        there: the files of all tables as they will be.
        touched: clusters and nights that got readings.
    """
    nights = {partition for cluster, night in touched for partition in ((cluster, night), (cluster, _later(night, 1)))}
    return _worked_out(staging, "server_interval", there, _nights(nights & _having(READINGS, there)))


def slot_files(staging: Path, there: Sequence[LakeFile], touched: Iterable[Partition]) -> list[LakeFile]:
    """What jobs had targets do, and all and logs had OSTs move, in the nights whose intervals, logs or jobs are new."""
    nights = _nights(set(touched) & _having({"server_interval"}, there))
    return [file for view in ("server_slot", "traffic_slot") for file in _worked_out(staging, view, there, nights)]


def system_state_files(
    staging: Path,
    there: Sequence[LakeFile],
    touched: Iterable[Partition],
    at_once: int = JUDGED_AT_ONCE,
    workers: Callable[[], Workers] | None = None,
) -> list[LakeFile]:
    """What the logs of nights met with, as far as servers were read then.

    Args:
        staging: the folder to write to.
        there: the files of all tables as they will be.
        touched: clusters and nights whose logs, or what servers did, are new.
        at_once: how many logs of a night are worked out together.
        workers: gives workers that share the logs, None to work them out here.
    """
    nights = set(touched) & _having({"server_slot"}, there)
    logs = [file for file in there if file.table == "log"]
    # Night by night, since a log is held against what servers did in the nights before its own.
    found = [span for night in sorted(nights) for span in spans((file for file in logs if file.partition == night), at_once)]
    return _worked_out(staging, "weather", there, found, workers)


def run_files(
    staging: Path, there: Sequence[LakeFile], found: Sequence[Span], workers: Callable[[], Workers] | None = None
) -> list[LakeFile]:
    """What the logs of nights did, and how long that took beside runs of their lineages in nights before.

    Args:
        staging: the folder to write to.
        there: the files of all tables as they will be.
        found: all logs of some nights.
        workers: gives workers that share them, None to work them out here.
    """
    nights = {partition for span in found for partition in span.partitions}
    shapes = _worked_out(staging, "run_shape", there, found, workers)
    kept = [file for file in there if file.table != "run_shape" or file.partition not in nights]
    # A run is held against others of its lineage, whose ids may lie in any part of their nights.
    whole = dict.fromkeys(Span(span.cluster, span.nights, 0) for span in found)
    return [*shapes, *_worked_out(staging, "run_usual", [*kept, *shapes], whole, workers)]


def _having(tables: Collection[str], files: Iterable[LakeFile]) -> set[Partition]:
    """Partitions with a file of one of the tables."""
    return {(file.cluster, file.night) for file in files if file.table in tables and file.cluster and file.night}


def _worked_out(
    staging: Path,
    view: str,
    there: Iterable[LakeFile],
    found: Iterable[Span],
    workers: Callable[[], Workers] | None = None,
) -> list[LakeFile]:
    looked_back = LOOKED_BACK[view]
    by_partition = _by_partition(file for file in there if file.table in looked_back)
    work = [(span, list(_files_of(span, by_partition, looked_back))) for span in found]
    return [file for _, files in shared(workers, _of_span, work, staging, view) for file in files]


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


def _of_span(work: tuple[Span, Sequence[LakeFile]], staging: Path, view: str) -> list[LakeFile]:
    span, files = work
    columns = ", ".join(arrow_schema(view, with_partition_keys=True).names)

    def rows(span: Span) -> pa.Table:
        with views_over(files, [f"feature.{view}"]) as views:
            return views.ask(f"SELECT {columns} FROM feature.{view} WHERE {span.where}", span)  # noqa: S608  names of ours, and quoted values

    return written(staging, view, [span], rows, *_ORDER[view])


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
