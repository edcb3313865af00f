"""Special files: what a program opens as a file, but is not on storage.

Standard streams, devices, what the kernel shows below `/proc` and `/sys`, pipes and sockets carry no I/O of a file system, and
a program that waits in `open` or `read` of one waits for its peer. POSIX calls all but the first of these special files.

Most are known by their name. A named pipe has a name like any other file's, and is known by its opens: `open` of a pipe returns
when the other end is opened too (fifo(7)), its requests are copies within memory, and it cannot seek. So a record is a pipe's
where a handful of opens took long each, requests took microseconds, and there was neither a seek nor a sync. How long is long
depends on whether the name contains a word for pipe or socket.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.derive.batch import logs_in
from iomine.derive.columns import labels
from iomine.derive.trace import Flags, Integers, Once, Tables, Trace
from iomine.schema.column import Column

STREAMS: Final = frozenset(("<STDIN>", "<STDOUT>", "<STDERR>"))
_KINDS: Final = ("stream", "device", "kernel", "pipe", "socket")
_PREFIXES: Final = {
    "/dev/": "device",
    "/proc/": "kernel",
    "/sys/": "kernel",
    "anon_inode:": "kernel",
    "pipe:[": "pipe",
    "socket:[": "socket",
}
_ANY_PREFIX: Final = tuple(_PREFIXES)
# Such a name is no proof: a study of the flow in a pipe may be called `pipe_3`.
_HINT: Final = re.compile(r"(?:^|[._-])(pipe|fifo|sock|socket)(?:[._-]|\d|$)", re.IGNORECASE)
_RECORDS: Final = ("posix_file", "mpiio_file", "stdio_file")
_MOST_OPENS: Final = 16
# Seconds for each open, on average: no file system in use takes so long for a handful of opens and then microseconds for a read.
_LONG_OPEN_SECONDS: Final = 5.0
_LONG_OPEN_SECONDS_OF_HINTED: Final = 0.1
# A request that goes to a server takes longer; one to a pipe is a copy in memory.
_COPY_SECONDS: Final = 1e-4
_UNSEEN: Final = ("seek_count", "fsync_count", "fdsync_count", "mmap_count")


def special_files(tables: Tables) -> dict[str, Column]:
    """Rows of the table `special_file`; no columns where there are no rows.

    Args:
        tables: columns by table, in one or more parts.
    """
    named: dict[int, str] = {}
    hinted: dict[int, str] = {}
    for part in tables.get("file_name", ()):
        for file_id, path in zip(part["file_id"], part["path"], strict=True):
            if kind := _kind_of_name(path):
                named[file_id] = kind
            elif match := _HINT.search(path.rpartition("/")[2]):
                hinted[file_id] = "socket" if match[1].lower().startswith("sock") else "pipe"
    waited = {file_id: hinted.get(file_id, "pipe") for file_id in _waited_for(tables, hinted) if file_id not in named}
    found = named | waited
    if not found:
        return {}
    return {
        "file_id": Column(np.array(list(found), np.int64)),
        "special_kind": labels(np.array([_KINDS.index(kind) for kind in found.values()]), _KINDS),
        "evidence": labels(np.repeat([0, 1], [len(named), len(waited)]), ("name", "times")),
    }


def _kind_of_name(path: str) -> str | None:
    if path in STREAMS:
        return "stream"
    if not path.startswith(_ANY_PREFIX):
        return None
    return next(kind for prefix, kind in _PREFIXES.items() if path.startswith(prefix))


def _waited_for(tables: Tables, hinted: Mapping[int, str]) -> list[int]:
    """Files whose POSIX records show that opens waited for a peer."""
    through_mpiio = ids_of(tables, "mpiio_file")
    found: list[int] = []
    for part in tables.get("posix_file", ()):
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            opens = part["open_count"].to_numpy()
            per_open = part["meta_seconds"].to_numpy() / opens
            is_slow = (opens > 0) & (opens <= _MOST_OPENS) & (per_open >= _LONG_OPEN_SECONDS_OF_HINTED)
            if not is_slow.any():
                continue
            requests = part["read_count"].to_numpy().astype(float) + part["write_count"].to_numpy()
            seconds = part["read_seconds"].to_numpy() + part["write_seconds"].to_numpy()
            is_copy = (requests > 0) & (seconds >= 0) & (seconds / requests <= _COPY_SECONDS)
        is_unseen = np.logical_and.reduce([part[name].to_numpy() <= 0 for name in _UNSEEN])
        file_ids = part["file_id"].to_numpy()
        # A write goes to the cache in microseconds whatever the file; a read that does was no cold read from a server.
        has_reads = part["read_count"].to_numpy() > 0
        is_hinted = np.isin(file_ids, list(hinted))
        is_long = is_hinted | (has_reads & (per_open >= _LONG_OPEN_SECONDS))
        is_pipe = is_slow & is_copy & is_unseen & is_long & ~np.isin(file_ids, through_mpiio)
        found += file_ids[is_pipe].tolist()
    return list(dict.fromkeys(found))


def special_ids(special: Mapping[str, Any]) -> Integers:
    """Record ids of special files, in order.

    Args:
        special: what `special_files` gives.
    """
    return np.sort(special["file_id"].to_numpy()) if special else np.empty(0, np.int64)


def ids_of(tables: Tables, table: str) -> Integers:
    """Record ids of a table of records, each as often as it has records."""
    return np.concatenate([np.empty(0, np.int64), *(part["file_id"].to_numpy() for part in tables.get(table, ()))])


def _kept(part: Mapping[str, Any], rows: Flags) -> Once:
    """Some of the rows of a part of a table."""
    wanted = pa.array(rows)

    def kept(name: str) -> Any:  # noqa: ANN401  columns are of many kinds
        column = part[name]
        return column.taken(rows) if isinstance(column, Column) else column.filter(wanted)

    return Once(part, kept)


def split_by_files(tables: Tables, file_ids: Integers) -> tuple[Tables, Tables]:
    """The tables without the records of some files, and these records alone; other tables are in the first as they are."""
    if not len(file_ids):
        return tables, {}
    others: dict[str, Sequence[Mapping[str, Any]]] = {}
    theirs: dict[str, Sequence[Mapping[str, Any]]] = {}
    for table in _RECORDS:
        are_theirs = [np.isin(part["file_id"].to_numpy(), file_ids) for part in tables.get(table, ())]
        if any(flags.any() for flags in are_theirs):
            parts = list(zip(tables[table], are_theirs, strict=True))
            others[table] = [_kept(part, ~flags) for part, flags in parts if not flags.all()]
            theirs[table] = [_kept(part, flags) for part, flags in parts if flags.any()]
    return {name: parts for name, parts in (dict(tables) | others).items() if parts}, theirs


def traces_of_others(traces: Sequence[Trace], file_ids: Integers) -> list[Trace]:
    """Traces without the requests of some files; those of which nothing stays are left out."""
    return [kept for trace in traces if len((kept := _of_others(trace, file_ids)).firsts)]


def _of_others(trace: Trace, file_ids: npt.NDArray[np.int64]) -> Trace:
    stays = ~np.isin(trace.file_ids, file_ids)
    if stays.all():
        return trace
    requests = np.repeat(stays, trace.counts)
    counts = trace.counts[stays]
    return Trace(
        trace.layer,
        offsets=trace.offsets[requests],
        lengths=trace.lengths[requests],
        starts=trace.starts[requests],
        ends=trace.ends[requests],
        firsts=np.cumsum(counts) - counts,
        file_ids=trace.file_ids[stays],
        ranks=trace.ranks[stays],
        ops=trace.ops[stays],
        counts=counts,
        bytes=trace.bytes[stays],
        seconds=trace.seconds[stays],
        logs=trace.logs[stays],
    )


def logs_with_data_through_stdio(tables: Tables) -> Integers:
    """Logs of which any byte went through stdio.

    Args:
        tables: columns by table, in one or more parts, without special files.
    """
    found = [
        logs_in(part)[(part["read_bytes"].to_numpy() > 0) | (part["write_bytes"].to_numpy() > 0)]
        for part in tables.get("stdio_file", ())
    ]
    return np.unique(np.concatenate([np.empty(0, np.int64), *found]))
