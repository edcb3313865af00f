"""Writes Darshan logs of format 3.41 through the writing calls of libdarshan-util, so that they are logs by its own word.

The library is the one in PyDarshan's wheel, which declares only its reading calls; the writing ones are declared here.
They have an order: job, command line, mounts, names, then modules by ascending id; without a mount the command line
reads back empty. Records are handed over as the bytes that stand in the log.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from iomine.errors import OutputError
from iomine.schema.counters import LUSTRE_COMPONENT, field_of
from iomine.sources.darshan.container import MODULES
from iomine.sources.darshan.counters import LAYOUTS
from iomine.sources.darshan.decoded import WORD_BYTES, Words
from iomine.sources.darshan.heatmap import LAYER_IDS

_DECLARED: Final = """
struct darshan_job { int64_t words[7]; char metadata[1024]; };
struct darshan_mnt_info { char type[3015]; char path[3015]; };
void *darshan_log_create(const char *, int, int);
int darshan_log_put_job(void *, struct darshan_job *);
int darshan_log_put_exe(void *, char *);
int darshan_log_put_mounts(void *, struct darshan_mnt_info *, int);
int darshan_log_put_namehash(void *, void *);
int darshan_log_put_mod(void *, int, void *, int, int);
void darshan_log_close(void *);
"""
_ZLIB: Final = 0
_ID_BYTES: Final = 8
# A reference to a name: pointer to the name record, then uthash's handle, of which the writer follows `next` alone.
_REF_WORDS: Final = 8
_REF_NEXT: Final = 3
_VERSIONS: Final = {
    "LUSTRE": 2,
    "DXT_POSIX": 1,
    "DXT_MPIIO": 2,
    "HEATMAP": 1,
    **{module: layout.version for module, layout in LAYOUTS.items()},
}
_HOST_WORDS: Final = 8
_DXT_HEAD: Final = 3 + _HOST_WORDS + 2
_HEAT_HEAD: Final = 6
_POOL_WORDS: Final = 2

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Run:
    """What a log says of its run as a whole.

    Attributes:
        uid: numeric id of the user.
        job_id: the scheduler's.
        nprocs: processes of the run.
        start_ns: start, in nanoseconds since the epoch.
        end_ns: end, likewise.
        exe: command line.
        metadata: entries of the metadata text.
        mounts: mount points and their file system types, at least one.
    """

    uid: int
    job_id: int
    nprocs: int
    start_ns: int
    end_ns: int
    exe: str
    mounts: Sequence[tuple[str, str]]
    metadata: Mapping[str, str] = field(default_factory=dict)


@lru_cache(1 << 16)
def record_id(name: str) -> int:
    """An id for a file by its name, the same in every log. Darshan hashes otherwise, but promises no particular hash."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=_ID_BYTES).digest(), "little", signed=True)


class CounterRecords:
    """Records of a module that are a fixed row of counters, all zero to begin with.

    Args:
        module: a key of the reader's layouts.
        count: how many records.
    """

    def __init__(self, module: str, count: int) -> None:
        words = LAYOUTS[module].words
        self._place_of = {name: place for place, name in enumerate(words)}
        self._matrix = np.zeros((count, LAYOUTS[module].width), np.int64)
        self._floats = self._matrix.view(np.float64)

    def __contains__(self, name: str) -> bool:
        """True for fields that these records have."""
        return name in self._place_of

    def __setitem__(self, name: str, values: npt.ArrayLike) -> None:
        """Sets a field of all records; fields in seconds, and variances, are floats."""
        is_float = name.endswith(("_seconds", "_variance"))
        np.copyto((self._floats if is_float else self._matrix)[:, self._place_of[name]], values)

    def data(self, chosen: slice = slice(None)) -> bytes:
        """Some of the records, as they stand in a log."""
        return self._matrix[chosen].tobytes()


class HeatMaps:
    """Heat maps of layers of one or more runs, of which each has all ranks and the same bins for each."""

    def __init__(self) -> None:
        self._shapes: list[tuple[str, int, float, int]] = []
        self._firsts: list[int] = [0]
        self._words: Words = np.empty(0, np.int64)

    def add(self, layer: str, ranks: int, width_seconds: float, bins: int) -> int:
        """Adds an empty heat map; its number.

        Args:
            layer: `posix`, `mpiio` or `stdio`.
            ranks: how many ranks.
            width_seconds: width of a bin.
            bins: how many bins.
        """
        self._shapes.append((layer, ranks, width_seconds, bins))
        self._firsts.append(self._firsts[-1] + ranks * (_HEAT_HEAD + 2 * bins))
        return len(self._shapes) - 1

    def fill(self, maps: Words, ranks: Words, are_reads: Words, bins: Words, moved: Words) -> None:
        """Adds bytes to bins; those beyond the last bin go to the last."""
        count = np.array([bins for *_, bins in self._shapes], np.int64)[maps]
        at = np.array(self._firsts)[maps] + ranks * (_HEAT_HEAD + 2 * count) + _HEAT_HEAD + are_reads * count
        self._words = np.zeros(self._firsts[-1], np.int64)
        np.add.at(self._words, at + np.minimum(bins, count - 1), moved)

    def data(self, number: int) -> bytes:
        """A heat map as it stands in a log."""
        layer, ranks, width, bins = self._shapes[number]
        words = self._words[self._firsts[number] : self._firsts[number + 1]].reshape(ranks, -1)
        words[:, 0], words[:, 1], words[:, 3] = LAYER_IDS[layer], np.arange(ranks), bins
        words.view(np.float64)[:, 2] = width
        return words.tobytes()


def lustre_data(file_ids: Words, ranks: Words, stripe_bytes: Words, osts: Words) -> tuple[bytes, int]:
    """Layouts of files with one component each and equally many stripes, and the size of each.

    Args:
        file_ids: record ids.
        ranks: rank of each record, -1 for a shared one.
        stripe_bytes: stripe size of each file.
        osts: OST indices by file and stripe.
    """
    count, stripes = osts.shape
    head = np.zeros((count, 4 + len(LUSTRE_COMPONENT) + _POOL_WORDS), np.int64)
    head[:, 0], head[:, 1], head[:, 2], head[:, 3] = file_ids, ranks, 1, stripes
    says = {"stripe_bytes": stripe_bytes, "stripe_count": stripes, "stripe_pattern": 1, "extent_end_bytes": -1}
    for place, word in enumerate(LUSTRE_COMPONENT):
        head[:, 4 + place] = says.get(field_of(word).name, 0)
    words = np.concatenate([head, osts], axis=1)
    return words.tobytes(), words.shape[1] * WORD_BYTES


def dxt_data(
    file_ids: Words,
    ranks: Words,
    hosts: npt.NDArray[np.bytes_],
    starts: Words,
    write_counts: Words,
    *,
    segments: tuple[Words, Words, Floats, Floats],
) -> bytes:
    """Traces of ranks on files, the writes of each before its reads.

    Args:
        file_ids: of each record.
        ranks: of each record.
        hosts: names of their nodes, 64 bytes each.
        starts: index of the first segment of each record.
        write_counts: how many of its segments are writes.
        segments: offsets, lengths, starts and ends, of all records in turn.
    """
    count = len(segments[0])
    sizes = np.diff(np.append(starts, count))
    heads = np.arange(len(starts)) * _DXT_HEAD + starts * len(segments)
    words = np.zeros(len(starts) * _DXT_HEAD + count * len(segments), np.int64)
    words[heads], words[heads + 1] = file_ids, ranks
    words[heads[:, None] + 3 + np.arange(_HOST_WORDS)] = hosts.view(np.int64).reshape(len(hosts), -1)
    words[heads + _DXT_HEAD - 2], words[heads + _DXT_HEAD - 1] = write_counts, sizes - write_counts
    at = np.arange(count) * len(segments) + np.repeat(np.arange(1, len(starts) + 1), sizes) * _DXT_HEAD
    for place, column in enumerate(segments):
        words[at + place] = column.view(np.int64)
    return words.tobytes()


def write_log(path: Path, run: Run, names: Mapping[int, str], modules: Mapping[str, bytes]) -> None:
    """Writes a log whose times of last change are those of the end of its run.

    Args:
        path: a file that is not there yet.
        run: what it says of its run.
        names: of record ids.
        modules: records by module.

    Raises:
        OutputError: the log cannot be written.
    """
    log = _Log(path)
    log.put_run(run)
    log.put_names(names)
    for module in sorted(modules, key=MODULES.index):
        log.put_module(module, modules[module])
    log.close()
    os.utime(path, ns=(run.end_ns, run.end_ns))


class _Log:
    """A log that is being written; once a call has failed, the others do nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._ffi, self._library = _library()
        self._log = self._library.darshan_log_create(os.fsencode(path), _ZLIB, 0)
        self._is_fine = True
        if self._log == self._ffi.NULL:
            raise OutputError(f"{path} cannot be written: choose a folder that is writable and has room.")

    def put_run(self, run: Run) -> None:
        ffi = self._ffi
        job = ffi.new("struct darshan_job *")
        start, end = divmod(run.start_ns, 10**9), divmod(run.end_ns, 10**9)
        job.words[0:7] = [run.uid, *start, *end, run.nprocs, run.job_id]
        job.metadata = "".join(f"{key}={entry}\n" for key, entry in run.metadata.items()).encode()
        mounts = ffi.new("struct darshan_mnt_info[]", len(run.mounts))
        for mount, (mount_path, fs_type) in zip(mounts, run.mounts, strict=True):
            mount.path, mount.type = mount_path.encode(), fs_type.encode()
        self._put("job", job)
        self._put("exe", ffi.new("char[]", run.exe.encode()))
        self._put("mounts", mounts, len(mounts))

    def put_names(self, names: Mapping[int, str]) -> None:
        """Hands the names over as the linked list that uthash makes of its table."""
        records = [id_.to_bytes(_ID_BYTES, "little", signed=True) + name.encode() + b"\0" for id_, name in names.items()]
        if not records:
            return
        # The buffer keeps the bytes alive for as long as the library reads from them.
        buffer = self._ffi.from_buffer(b"".join(records))
        refs = np.zeros((len(records), _REF_WORDS), np.uint64)
        refs[1:, 0] = np.cumsum([len(record) for record in records[:-1]])
        refs[:, 0] += int(self._ffi.cast("uintptr_t", buffer))
        at = int(refs.ctypes.data)
        refs[:-1, _REF_NEXT] = at + np.arange(1, len(records)) * (_REF_WORDS * WORD_BYTES)
        self._put("namehash", self._ffi.cast("void *", at))

    def put_module(self, module: str, data: bytes) -> None:
        self._put("mod", MODULES.index(module), self._ffi.from_buffer(data), len(data), _VERSIONS[module])

    def close(self) -> None:
        self._library.darshan_log_close(self._log)
        if not self._is_fine:
            raise OutputError(f"{self._path} could not be written whole: make room on its disk.")

    def _put(self, what: str, *arguments: object) -> None:
        self._is_fine = self._is_fine and getattr(self._library, f"darshan_log_put_{what}")(self._log, *arguments) >= 0


@cache
def _library() -> tuple[Any, Any]:
    # Imported late, as in `convert`.
    import darshan.backend.cffi_backend  # noqa: PLC0415
    from cffi import FFI  # noqa: PLC0415

    folder = Path(darshan.backend.cffi_backend.__file__).parents[2] / "darshan.libs"
    ffi = FFI()
    ffi.cdef(_DECLARED)
    return ffi, ffi.dlopen(str(next(folder.glob("libdarshan-util*.so*"))))
