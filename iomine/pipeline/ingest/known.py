"""Files that are as they were when a sweep read them: what they hold is known, so they are not opened again.

A file is remembered by a digest of its path and state. One that changed shortly before the sweep is not: it may change once more
within a tick of its file system's clock, and look the same.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from itertools import groupby, repeat
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from iomine import __version__
from iomine.lake import LakeFile, Snapshot, write_file
from iomine.pipeline.ingest.find import Candidate
from iomine.pipeline.judging.rollups import KNOWN
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import FileState
from iomine.sources.garbage import without_collection

KNOWN_FILES: Final = "known_file"
# Ticks are up to two seconds, and clocks of servers may differ by more.
_SETTLED_NS: Final = 60 * 10**9
# A process that sweeps night after night reads the small files of all earlier nights once. They take 160 MB at most.
_KEPT_ROWS: Final = 10_000
_KEPT_FILES: Final = 1000


class KnownFile(NamedTuple):
    """A file, and the log that it holds or is a part of.

    Attributes:
        file_state: digest of its path and state.
        night: of the log.
        log_id: of the log.
        file_count: files of the log, where that is a run that was traced into files of their own; None of others.
    """

    file_state: int
    night: date
    log_id: str
    file_count: int | None = None


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Candidates that need not be opened, since they are as they were when a sweep read them.

    Attributes:
        known: files whose logs the lake has, by path.
        refused: rows of the table `reject` of files that could not be read, by path.
        clusters: to which cluster each log of the known files belongs, by log id.
    """

    known: Mapping[str, KnownFile]
    refused: Mapping[str, dict[str, Any]]
    clusters: Mapping[str, str]


def unchanged(
    snapshot: Snapshot, candidates: Sequence[Candidate], rejects: Iterable[dict[str, Any]], is_due: Callable[[str, date], bool]
) -> Unchanged:
    """Which candidates need not be opened.

    Args:
        snapshot: the lake.
        candidates: what was found.
        rejects: from `final_rejects`.
        is_due: whether a file of this path and night must be opened anyway.
    """
    with without_collection():
        paths = file_states(candidates)
        refused = {paths[row["file_state"]]: row for row in rejects if row["file_state"] in paths}
        files = {path: file for path, file in remembered(snapshot, paths).items() if not is_due(path, file.night)}
        log_ids = {file.log_id for file in files.values()}
        clusters = known_ids(snapshot, log_ids)
        if len(clusters) < len(log_ids):
            files = {path: file for path, file in files.items() if file.log_id in clusters}
        return Unchanged(with_whole_runs(files, candidates, refused), refused, clusters)


def final_rejects(snapshot: Snapshot) -> list[dict[str, Any]]:
    """Rejects that this version of the reader would repeat."""
    return [row for row in snapshot.rows("reject").to_pylist() if row["is_final"] and row["reader_version"] == __version__]


def known_ids(snapshot: Snapshot, asked: set[str]) -> dict[str, str]:
    """Ids that the lake has, each with its cluster; the ids of a long history would not fit in memory together."""
    known: dict[str, str] = {}
    wanted = pa.array(asked, pa.string())
    for file in snapshot.of("log", KNOWN) if asked else ():
        ids = _column(file, "log_id")
        known.update(dict.fromkeys(ids.filter(pc.is_in(ids, wanted)).to_pylist(), file.cluster or ""))
    return known


def _column(file: LakeFile, name: str) -> pa.ChunkedArray:
    return _kept(file.path, name) if file.row_count <= _KEPT_ROWS else _read(file.path, name)


@lru_cache(_KEPT_FILES)
def _kept(path: Path, name: str) -> pa.ChunkedArray:
    return _read(path, name)


def _read(path: Path, name: str) -> pa.ChunkedArray:
    # One file per night; a dataset of one file, which `read_table` makes, takes more than twice as long.
    with pq.ParquetFile(path) as opened:
        return opened.read([name], use_threads=False)[name]


def is_settled(state: FileState, begun_at: datetime) -> bool:
    """Whether a file that changed after a sweep began would look different."""
    return max(state.modified_ns, state.changed_ns) <= int(begun_at.timestamp() * 1e9) - _SETTLED_NS


def file_states(candidates: Iterable[Candidate]) -> dict[int, str]:
    """Paths of candidates that are files, by the digest of path and state."""
    return {each.state.key(each.path): each.path for each in candidates if each.state is not None and not each.reason}


def remembered(snapshot: Snapshot, paths: Mapping[int, str]) -> dict[str, KnownFile]:
    """What is known of files that have not changed, by path.

    Args:
        snapshot: the lake.
        paths: from `file_states`.
    """
    wanted = np.sort(np.fromiter(paths, np.int64, len(paths)))
    found: dict[str, KnownFile] = {}
    for file in snapshot.of(KNOWN_FILES) if paths else ():
        states = _column(file, "file_state").to_numpy()
        places = np.minimum(np.searchsorted(wanted, states), len(wanted) - 1)
        if (is_wanted := wanted[places] == states).any():
            rows = pq.read_table(file.path, columns=["file_state", "log_id", "file_count"]).filter(pa.array(is_wanted))
            own, log_ids, counts = (column.to_pylist() for column in rows.columns)
            files = map(KnownFile, own, repeat(file.night or date.min), log_ids, counts)
            found.update(zip(map(paths.__getitem__, own), files, strict=True))
    return found


def with_whole_runs(found: Mapping[str, KnownFile], candidates: Sequence[Candidate], also: Iterable[str]) -> dict[str, KnownFile]:
    """The known files without those of runs that may have got another file, or lost one.

    Args:
        found: from `remembered`.
        candidates: all that a sweep found.
        also: paths of candidates about which it is known that they hold no run.
    """
    parts = Counter((_folder(path), each.log_id) for path, each in found.items() if each.file_count is not None)
    if not parts:
        return dict(found)
    known = found.keys() | set(also)
    open_folders = {_folder(each.path) for each in candidates if each.path not in known}
    return {
        path: each
        for path, each in found.items()
        if each.file_count is None
        or (each.file_count == parts[folder := _folder(path), each.log_id] and folder not in open_folders)
    }


def log_count(found: Mapping[str, KnownFile]) -> int:
    """How many logs known files hold; the files of one run are one."""
    runs = {(_folder(path), each.log_id) for path, each in found.items() if each.file_count is not None}
    return len(runs) + sum(each.file_count is None for each in found.values())


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def known_files(staging: Path, there: Iterable[LakeFile], cluster: str, new: Iterable[KnownFile]) -> list[LakeFile]:
    """Files of the table with new rows.

    Args:
        staging: the folder to write to.
        there: the files of all tables.
        cluster: partition key.
        new: files that were read.
    """
    # After a move a night has several files.
    old = [file for file in there if file.table == KNOWN_FILES and file.cluster == cluster]
    by_night = groupby(sorted(new, key=attrgetter("night", "file_state")), key=attrgetter("night"))
    return [
        _written(staging, [file for file in old if file.night == night], list(group), cluster, night) for night, group in by_night
    ]


def _written(staging: Path, old: Sequence[LakeFile], new: Sequence[KnownFile], cluster: str, night: date) -> LakeFile:
    schema = arrow_schema(KNOWN_FILES)
    columns: dict[str, list[Any]] = {name: [getattr(each, name) for each in new] for name in schema.names}
    rows = pa.table(columns, schema=schema)
    if old:
        before = pa.concat_tables([pq.read_table(file.path, schema=schema) for file in old])
        rows = pa.concat_tables([before.filter(pc.invert(pc.is_in(before["file_state"], rows["file_state"]))), rows])
    return write_file(staging, KNOWN_FILES, rows, cluster, night)
