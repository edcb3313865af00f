"""A run as tracers of calls give it, whichever they are."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.schema.ops import OPS, OtherCalls, Steps

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_READS: Final = ("read", "pread", "pread64", "readv", "preadv", "preadv64")
_WRITES: Final = ("write", "pwrite", "pwrite64", "writev", "pwritev", "pwritev64")
_STATS: Final = (
    *("stat", "fstat", "lstat", "stat64", "fstat64", "lstat64", "fstatat", "fstatat64"),
    *("__xstat", "__fxstat", "__lxstat", "__xstat64", "__fxstat64", "__lxstat64", "__fxstatat", "__fxstatat64"),
)
# What calls of the C library are, by layer.
CALLS: Final[Mapping[str, Mapping[str, str]]] = {
    "posix": {
        **dict.fromkeys(_READS, "read"),
        **dict.fromkeys(_WRITES, "write"),
        **dict.fromkeys(("open", "open64", "openat", "openat64", "creat", "creat64"), "open"),
        **dict.fromkeys(("lseek", "lseek64"), "seek"),
        **dict.fromkeys(_STATS, "stat"),
        **dict.fromkeys(("mmap", "mmap64"), "mmap"),
        **{name: name for name in ("close", "fsync", "fdatasync")},
    },
    "stdio": {
        "fread": "read",
        "fwrite": "write",
        **dict.fromkeys(("fopen", "fopen64"), "open"),
        **dict.fromkeys(("fseek", "fseeko", "fseeko64"), "seek"),
        "fclose": "close",
        "fflush": "flush",
    },
}
# What every host calls itself says nothing of which it was.
_NO_HOST: Final = frozenset(("", "localhost"))
# Those that move no bytes.
KINDS: Final = {layer: [call for call in dict.fromkeys(calls.values()) if call not in OPS] for layer, calls in CALLS.items()}
_ID_BYTES: Final = 8


class Requests(NamedTuple):
    """Requests of a layer: a row for each, `ops` an index into `OPS`, offsets -1 where they are not known."""

    file_ids: Integers
    ranks: Integers
    ops: Integers
    offsets: Integers
    lengths: Integers
    starts: Floats
    ends: Floats


@dataclass(frozen=True, slots=True)
class Traced:
    """A run, read from all of its files.

    Attributes:
        tool: what traced it, as `logs` has it for the format.
        start_at: when its first event began, in UTC; None where the trace does not say it.
        run_seconds: from then to the end of its last event.
        nprocs: processes that were traced.
        command: what was started, None where the files do not say it.
        event_count: events that were read, declarations among them.
        segments: a part of the table `segment` for each layer.
        calls: for each layer its other calls.
        paths: of all files, by id.
        notes: how ranks and numbers are meant.
        not_watched: why nothing is known of layers beneath or beside.
        lost: what of the files could not be read, empty where all was.
        doubt: the same, and what else is not sure.
        steps: what the program did above its calls, None where the tool does not trace that, or there was nothing.
    """

    tool: str
    start_at: datetime | None
    run_seconds: float
    nprocs: int
    command: str | None
    event_count: int
    segments: Sequence[Mapping[str, pa.Array]]
    calls: Sequence[OtherCalls]
    paths: Mapping[int, str]
    notes: str
    not_watched: str
    lost: str
    doubt: str
    steps: Steps | None = None

    @property
    def end_at(self) -> datetime | None:
        """When its last event ended, in UTC; None where the trace does not say it."""
        return None if self.start_at is None else self.start_at + timedelta(seconds=self.run_seconds)


def digest_of(digests: Iterable[str]) -> str:
    """The digest by which a run of several files is known: the SHA-256, in hex, of those of its files, sorted."""
    return hashlib.sha256("".join(sorted(digests)).encode()).hexdigest()


def file_id_of(path: str) -> int:
    """The id of a file by its path, the same in all runs."""
    return int.from_bytes(hashlib.blake2b(path.encode(), digest_size=_ID_BYTES).digest(), "little", signed=True)


def segments_of(layer: str, requests: Requests, host_of: Mapping[int, str]) -> dict[str, pa.Array]:
    """A part of the table `segment`: requests of each rank on a file in one direction, in the order in which they ended.

    Args:
        layer: the layer.
        requests: at least one.
        host_of: host of each rank, as far as it is known.
    """
    named = {rank: host for rank, host in host_of.items() if host not in _NO_HOST}
    order = np.lexsort((requests.ends, requests.ops, requests.ranks, requests.file_ids))
    files, ranks, ops, offsets, lengths, starts, ends = (values[order] for values in requests)
    is_last = np.append((files[1:] != files[:-1]) | (ranks[1:] != ranks[:-1]) | (ops[1:] != ops[:-1]), True)
    lasts = np.flatnonzero(is_last)
    run_ends = pa.array(lasts + 1)
    hosts = pa.array([named.get(rank) for rank in ranks[lasts].tolist()], pa.string())

    def of_runs(values: pa.Array) -> pa.Array:
        return pa.RunEndEncodedArray.from_arrays(run_ends, values)

    return {
        "layer": of_runs(pa.array([layer] * len(lasts)).dictionary_encode()),
        "file_id": of_runs(pa.array(files[lasts])),
        "rank": of_runs(pa.array(ranks[lasts])),
        "host": of_runs(hosts.dictionary_encode()),
        "op": of_runs(pa.DictionaryArray.from_arrays(pa.array(ops[lasts].astype(np.int32)), pa.array(OPS))),
        "offset_bytes": pa.array(offsets),
        "length_bytes": pa.array(lengths),
        "start_seconds": pa.array(starts),
        "end_seconds": pa.array(ends),
    }
