"""Runs that were traced into a file for each process: which files are one run's, and what a run holds as a log."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from iomine.derive import Tables, app_phases, counters, traces
from iomine.derive.trace import Trace, grouped
from iomine.errors import UnreadableError
from iomine.pipeline.ingest.reader import CHANGED
from iomine.schema.ops import OPS
from iomine.sources.darshan import (
    Columns,
    Identity,
    Job,
    Log,
    ModuleState,
    MountTable,
    implausible,
    read_owned,
    row_count,
    rows_without_regions,
    without_region,
)
from iomine.sources.dftracer import read_trace
from iomine.sources.recorder import MAGIC, PARTS, missing_parts, read_recorder
from iomine.sources.traced import Traced, digest_of

WORKED_OUT: Final = "worked out from the trace"
# What Darshan would have a module for: that there is none does not say that nothing of it was called.
_NOT_WATCHED: Final = ("MPI-IO", "LUSTRE")


def runs_of(files: Iterable[tuple[str, Identity]]) -> Iterator[tuple[Identity, tuple[str, ...]]]:
    """Runs, and the paths of their files: those of one folder that were started alike and overlap in time.

    Args:
        files: paths of files and what they are, all of them parts of runs.
    """
    alike: dict[tuple[str, str], list[tuple[str, Identity]]] = defaultdict(list)
    for path, identity in files:
        if identity.extent is not None:
            alike[path.rpartition("/")[0], identity.extent.command].append((path, identity))
    for group in alike.values():
        yield from map(_run, _overlapping(group))


def _overlapping(files: Sequence[tuple[str, Identity]]) -> Iterator[list[tuple[str, Identity]]]:
    run: list[tuple[str, Identity]] = []
    end = -1
    for path, identity in sorted(files, key=lambda file: (file[1].extent, file[0])):
        extent = identity.extent
        if extent is None:
            continue
        if run and extent.start > end:
            yield run
            run, end = [], -1
        run.append((path, identity))
        end = max(end, extent.end)
    if run:
        yield run


def _run(files: Sequence[tuple[str, Identity]]) -> tuple[Identity, tuple[str, ...]]:
    # Two copies of a file count once.
    by_digest = {identity.sha256: (path, identity) for path, identity in sorted(files, reverse=True, key=lambda file: file[0])}
    paths = tuple(sorted(path for path, _ in by_digest.values()))
    last = max(
        (identity for _, identity in by_digest.values()), key=lambda identity: identity.extent.end if identity.extent else -1
    )
    size = sum(identity.size_bytes for _, identity in by_digest.values())
    return replace(last, sha256=digest_of(by_digest), size_bytes=size), paths


def read_run(paths: Sequence[str], log_id: str) -> Log:
    """A run as a log, with the records that Darshan would have written worked out from its requests.

    Args:
        paths: of all of its files.
        log_id: as it was identified.

    Raises:
        UnreadableError: a file cannot be read, or has changed.
    """
    owned = [read_owned(Path(path)) for path in paths]
    if not digest_of(hashlib.sha256(each.data).hexdigest() for each in owned).startswith(log_id):
        raise UnreadableError(CHANGED, False)
    contents = [each.data for each in owned]
    # The first file in a folder of recorder2parquet is its metadata.
    run = _read_parts(paths, contents) if contents[0].startswith(MAGIC) else read_trace(contents)
    sentences, doubts = implausible(run.start_at, run.end_at, run.nprocs) if run.start_at and run.end_at else ([], [])
    unknown = {doubt.column for doubt in doubts}
    job = Job(
        uid=None,
        job_id=None,
        nprocs=run.nprocs,
        start_at=None if "start_at" in unknown else run.start_at,
        end_at=None if "end_at" in unknown else run.end_at,
        run_seconds=run.run_seconds,
        exe=run.command or "",
        doubt="; ".join(sentences),
        doubts=doubts,
    )
    tables = _tables(run)
    states = _modules(run, tables)
    tables["module"] = [rows_without_regions(states)]
    owners = {each.owner_uid for each in owned}
    return Log(
        log_id,
        job,
        run.tool,
        None,
        sum(len(each.data) for each in owned),
        "; ".join(filter(None, (job.doubt, run.doubt))),
        states,
        tables,
        owners.pop() if len(owners) == 1 else None,
    )


def _read_parts(paths: Sequence[str], contents: Sequence[bytes]) -> Traced:
    """A run of Recorder.

    Raises:
        UnreadableError: a part is missing or cannot be read.
    """
    parts = {name: data for path, data in zip(paths, contents, strict=True) if fnmatch(name := path.rpartition("/")[2], PARTS)}
    if missing := missing_parts(contents[0], parts):
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise UnreadableError(f"The folder lacks {missing[0]}{more}, which its _metadata lists: copy the whole folder.")
    return read_recorder([*parts.values()])


def _tables(run: Traced) -> dict[str, list[Columns]]:
    tables: dict[str, list[Columns]] = {"segment": [*run.segments]} if run.segments else {}
    traced = traces(tables)
    tables |= {table: [columns] for table, columns in counters(traced, run.calls, run.nprocs).items()}
    if run.steps is not None:
        tables["app_phase"] = [app_phases(run.steps, traced)]
    mounts = MountTable(())
    of_path = {file_id: mounts.of(path) for file_id, path in run.paths.items()}
    if run.paths:
        tables["file_name"] = [
            {
                "file_id": list(run.paths),
                "path": list(run.paths.values()),
                "is_path_cut": [False] * len(run.paths),
                "mount": [mount for mount, _ in of_path.values()],
                "fs_type": [fs_type for _, fs_type in of_path.values()],
            }
        ]
    if traced:
        tables["dxt_file"] = [_traced_files(trace, part) for trace, part in zip(traced, run.segments, strict=True)]
    return tables


def _traced_files(trace: Trace, segments: Columns) -> Columns:
    """Columns of the table `dxt_file`: how many requests of each rank on each file of a layer were traced."""
    firsts, group_of = grouped(trace.file_ids, trace.ranks)
    counts = [np.bincount(group_of, trace.counts * (trace.ops == code), len(firsts)).astype(np.int64) for code in range(len(OPS))]
    rows = pa.array(firsts)
    return {
        "file_id": pa.array(trace.file_ids[firsts]),
        "rank": pa.array(trace.ranks[firsts]),
        **{name: segments[name].values.take(rows) for name in ("layer", "host")},  # type: ignore[union-attr]  # Arrow's, in runs
        **{f"{op}_count": pa.array(counts[code]) for code, op in enumerate(OPS)},
    }


def _modules(run: Traced, tables: Tables) -> tuple[ModuleState, ...]:
    """The modules as Darshan would have them: those that were watched, and those of which nothing is known."""
    state = "unsound" if run.lost else "read"
    found = [
        without_region(
            module,
            sum(row_count(part) for part in tables.get(table, ())),
            state,
            "; ".join(filter(None, (why, run.notes, run.doubt))),
        )
        for module, table, why in (
            ("POSIX", "posix_file", WORKED_OUT),
            ("STDIO", "stdio_file", WORKED_OUT),
            ("DXT_POSIX", "dxt_file", ""),
        )
        if table in tables or not module.startswith("DXT")
    ]
    return (*found, *(without_region(module, 0, "unread", run.not_watched) for module in _NOT_WATCHED))
