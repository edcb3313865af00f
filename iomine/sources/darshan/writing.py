"""Writes Darshan logs of format 3.41, with the same bytes inside their regions as libdarshan-util's writing calls give.

Regions follow one another in the library's order: job with command line and mounts, names, then modules by ascending id;
without a mount PyDarshan reads the command line back empty. Records are handed over as the bytes that stand in the log.
"""

import hashlib
import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from zlib_ng import zlib_ng

from iomine.errors import OutputError
from iomine.schema.counters import LUSTRE_COMPONENT, field_of
from iomine.sources.darshan.container import LATEST, MAGIC, MODULES
from iomine.sources.darshan.counters import LAYOUTS
from iomine.sources.darshan.decoded import WORD_BYTES, Words
from iomine.sources.darshan.heatmap import LAYER_IDS

_FORMAT: Final = b"3.41"
_ZLIB: Final = 0
# Most of a log is zeros: the quickest level packs them as well as the others.
_LEVEL: Final = 1
_BEGINNING: Final = struct.Struct("<8sq")
_HEADER: Final = LATEST.header("<")
_JOB: Final = struct.Struct("<7q1024s")
_ID: Final = struct.Struct("<q")
_ID_BYTES: Final = 8
VERSIONS: Final = {
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
    regions = [_job_region(run), b"".join([_ID.pack(id_) + name.encode() + b"\0" for id_, name in names.items()])]
    maps, versions = [0] * (2 * LATEST.slots), [0] * LATEST.slots
    compressed = [zlib_ng.compress(region, _LEVEL) if region else b"" for region in regions]
    at = _BEGINNING.size + _HEADER.size + len(compressed[0])
    names_at = at, len(compressed[1])
    at += len(compressed[1])
    for module in sorted(modules, key=MODULES.index):
        region, id_ = zlib_ng.compress(modules[module], _LEVEL), MODULES.index(module)
        maps[2 * id_ : 2 * id_ + 2], versions[id_] = (at, len(region)), VERSIONS[module]
        compressed.append(region)
        at += len(region)
    header = _BEGINNING.pack(_FORMAT, MAGIC) + _HEADER.pack(_ZLIB, 0, *names_at, *maps, *versions)
    try:
        with path.open("xb") as file:
            file.write(b"".join([header, *compressed]))
            file.flush()
            os.utime(file.fileno(), ns=(run.end_ns, run.end_ns))
    except OSError as error:
        raise OutputError(f"{path} cannot be written ({error.strerror}): choose another folder, or free some space.") from error


def _job_region(run: Run) -> bytes:
    start, end = divmod(run.start_ns, 10**9), divmod(run.end_ns, 10**9)
    metadata = "".join(f"{key}={entry}\n" for key, entry in run.metadata.items()).encode()
    job = _JOB.pack(run.uid, *start, *end, run.nprocs, run.job_id, metadata)
    return job + "\n".join([run.exe, *(f"{fs_type}\t{path}" for path, fs_type in reversed(run.mounts))]).encode() + b"\0"
