"""Records of formats before 3.00 as rows of today's tables, by the mapping of `iomine.schema.legacy`."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from iomine.schema.legacy import (
    CALLS,
    DATA,
    FIRST_WITH_MOUNTS,
    FIRST_WITH_RANKS_OF_MPIIO,
    MOMENTS,
    NOT_OF_SUMS,
    RANKS,
    WORDS,
    caveats,
    columns,
)
from iomine.sources.darshan.counters import LAYOUTS
from iomine.sources.darshan.decoded import Columns, Records, are_floats
from iomine.sources.darshan.legacy import LegacyLog
from iomine.sources.darshan.modules import ModuleState, rows_without_regions, without_region
from iomine.units import GIB, counted

# Said of modules whose counts of calls and of sizes need not agree, since sizes are those of two layers.
MINGLED: Final = "calls of both POSIX and stdio, and their bytes, sizes and times stand together with POSIX"
# Modules that bytes, sizes and offsets belong to.
_MOVERS: Final = frozenset(("POSIX", "STDIO"))
_Flags = npt.NDArray[np.bool_]
_Integers = npt.NDArray[np.int64]
_HASH, _RANK = range(2)
_AT: Final = {word: index for index, word in enumerate(WORDS, start=2)}
_CALLS_AT: Final = {module: [_AT[word] for word in words] for module, words in CALLS.items()}
_MPI_TIMES_AT: Final = [_AT[f"F_MPI_{what}_TIME"] for what in ("READ", "WRITE", "META")]
# Darshan's value for an unknown counter.
_UNKNOWN: Final = -1
# Hash of a record that stands for all files of a rank that opened more than Darshan keeps.
_HASH_OF_SUM: Final = 0
_MOST_FILES: Final = 1024
# How much of a path was kept, by major version.
_KEPT: Final = {"1": 11, "2": 15}
_CUT: Final = "\N{HORIZONTAL ELLIPSIS}"
# In 32-bit programs, as on Blue Gene/P, offsets beyond 2 GiB are taken for lower ones. So where more than that was
# moved, a highest offset in the upper half of it may have been any offset.
_DOUBTFUL: Final = {"MAX_BYTE_READ": "BYTES_READ", "MAX_BYTE_WRITTEN": "BYTES_WRITTEN"}
_DOUBTFUL_FROM, _DOUBTFUL_BELOW = GIB, 2 * GIB


def legacy_tables(log: LegacyLog) -> tuple[dict[str, list[Columns]], tuple[ModuleState, ...]]:
    """Columns by table of a log, and the states of what are modules today."""
    words = log.words
    used = {module: (words[:, at] != 0).any(axis=1) for module, at in _CALLS_AT.items() if columns(module, log.version)}
    is_sum = words[:, _HASH] == _HASH_OF_SUM
    doubtful = {word: _is_doubtful(words[:, _AT[word]], words[:, _AT[moved]]) for word, moved in _DOUBTFUL.items()}
    unknown_in = [(NOT_OF_SUMS, is_sum), *((frozenset((word,)), flags) for word, flags in doubtful.items())]
    tables: dict[str, list[Columns]] = {}
    states = []
    for module, is_used in used.items():
        count = int(np.count_nonzero(is_used))
        if count:
            tables[LAYOUTS[module].table] = [_rows(module, log, used, unknown_in)]
        faults = [*_faults(module, log, used)]
        notes = [*caveats(module, log.version)] if count else []
        if sums := int(np.count_nonzero(is_used & is_sum)):
            notes.append(f"{counted(sums, 'rank')} opened more than {_MOST_FILES:,} files, whose records are added up")
        if module in _MOVERS and (cut := int(np.count_nonzero(is_used & np.any([*doubtful.values()], axis=0)))):
            notes.append(f"the highest offset of {counted(cut, 'record')} may be cut to 31 bits, and is not known")
        state = "unsound" if faults else "read"
        states.append(without_region(module, count, state, "; ".join((*faults, *notes)), is_partial=sums > 0))
    about: dict[str, Columns] = {
        "file_name": _names(log),
        "mount": {"mount": [mount for mount, _ in log.job.mounts], "fs_type": [fs_type for _, fs_type in log.job.mounts]},
        "metadata": {"key": [key for key, _ in log.job.metadata], "entry": [entry for _, entry in log.job.metadata]},
        "module": rows_without_regions(states),
    }
    return tables | {table: [part] for table, part in about.items() if len(next(iter(part.values())))}, tuple(states)


def _faults(module: str, log: LegacyLog, used: Mapping[str, _Flags]) -> Iterator[str]:
    if log.damage:
        yield log.damage
    if module in _MOVERS and (is_both := used["POSIX"] & used["STDIO"]).any():
        yield f"{counted(len(np.unique(log.words[is_both, _HASH])), 'file')} had {MINGLED}"


def _is_doubtful(highest: _Integers, moved: _Integers) -> _Flags:
    flags: _Flags = (highest >= _DOUBTFUL_FROM) & (highest < _DOUBTFUL_BELOW) & (moved > _DOUBTFUL_BELOW)
    return flags


def _rows(
    module: str, log: LegacyLog, used: Mapping[str, _Flags], unknown_in: Sequence[tuple[AbstractSet[str], _Flags]]
) -> Records:
    """Records of a module; some counters are not known in some records."""
    is_own, layout = used[module], LAYOUTS[module]
    places, unknown = _places(module, log.version)
    words = log.words[is_own]
    matrix = np.where(places >= 0, words[:, places], unknown)
    if module == "PNETCDF_FILE":
        matrix[:, layout.words.index("open_count")] += words[:, _AT["INDEP_NC_OPENS"]]
    for sources, is_unknown in (*unknown_in, *_of_others(module, log, used)):
        rows = is_unknown[is_own]
        if rows.any():
            at = _taken_from(module, log.version, sources)
            matrix[np.ix_(rows, at)] = unknown[at]
    return Records(layout.table, layout.words, matrix)


def _of_others(module: str, log: LegacyLog, used: Mapping[str, _Flags]) -> Iterator[tuple[AbstractSet[str], _Flags]]:
    """Counters that are of another layer, and in which records."""
    is_posix, is_mpiio = used["POSIX"], used["MPI-IO"]
    is_timed = is_mpiio & (log.words[:, _MPI_TIMES_AT] != 0).any(axis=1)
    if log.version < FIRST_WITH_RANKS_OF_MPIIO:
        is_timed = np.zeros_like(is_timed)
    if module == "POSIX":
        yield frozenset(("MODE",)), is_mpiio
        yield RANKS, is_timed
    elif module == "STDIO":
        yield DATA | MOMENTS, is_posix
        yield RANKS, is_posix | is_timed
    elif module == "MPI-IO":
        yield MOMENTS, is_posix | used["STDIO"]
        yield RANKS, ~is_timed


@cache
def _places(module: str, version: str) -> tuple[_Integers, _Integers]:
    """Of each column of a module's records the word that it is, -1 where there is none, and what stands for an unknown value."""
    layout = LAYOUTS[module]
    sources = columns(module, version)
    places = [_HASH, _RANK, *(_UNKNOWN if source is None else _AT[source] for source in sources.values())]
    bits = int(np.float64(_UNKNOWN).view(np.int64))
    unknown = [bits if is_float else _UNKNOWN for is_float in are_floats(layout.table, layout.words)]
    return np.array(places), np.array(unknown)


@cache
def _taken_from(module: str, version: str, sources: AbstractSet[str]) -> _Integers:
    """Columns of a module's records that are taken from some counters."""
    return np.array([at for at, source in enumerate(columns(module, version).values(), start=2) if source in sources], np.int64)


def _names(log: LegacyLog) -> Columns:
    """Columns of the table `file_name`: the end of each path, and where the file lay."""
    # Records of all ranks and of rank 0 come first: format 1.23 is sure of these mounts alone.
    order = np.lexsort((log.words[:, _RANK], log.words[:, _HASH]))
    order = order[log.words[order, _HASH] != _HASH_OF_SUM]
    hashes, firsts = np.unique(log.words[order, _HASH], return_index=True)
    rows = order[firsts]
    kept = _KEPT[log.version[0]]
    ends = [suffix.split(b"\0")[0] for suffix in log.suffixes[rows].tolist()]
    by_device: Mapping[int, tuple[str | None, str | None]] = log.mounts if log.version >= FIRST_WITH_MOUNTS else {}
    mounts = [by_device.get(device, (None, None)) for device in log.words[rows, _AT["DEVICE"]].tolist()]
    # Shorter ones were not cut.
    is_cut = [len(end) >= kept for end in ends]
    texts = [end.decode("utf-8", "backslashreplace") for end in ends]
    return {
        "file_id": hashes.tolist(),
        "path": [_CUT + text if cut else text for text, cut in zip(texts, is_cut, strict=True)],
        "is_path_cut": is_cut,
        "mount": [mount for mount, _ in mounts],
        "fs_type": [fs_type for _, fs_type in mounts],
    }
