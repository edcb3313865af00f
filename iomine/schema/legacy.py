"""Darshan's formats 1.21 to 2.06: the counters of their records, and the columns of today's tables that each becomes.

A file had one record for all layers together. Its counts of calls are of one layer each; bytes, sizes, offsets and times are of
POSIX and stdio together, so they go to the layer that was used, and to POSIX where both were. What no counter becomes is NULL.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from iomine.schema.counters import COUNTERS, field_of

_BINS: Final = "0_100 100_1K 1K_10K 10K_100K 100K_1M 1M_4M 4M_10M 10M_100M 100M_1G 1G_PLUS".split()
_COMMONEST: Final = tuple(f"{name}{n}_{what}" for name in ("STRIDE", "ACCESS") for what in (name, "COUNT") for n in range(1, 5))
_RANKS: Final = ("FASTEST_RANK", "FASTEST_RANK_BYTES", "SLOWEST_RANK", "SLOWEST_RANK_BYTES")
_RANK_TIMES: Final = ("F_FASTEST_RANK_TIME", "F_SLOWEST_RANK_TIME", "F_VARIANCE_RANK_TIME", "F_VARIANCE_RANK_BYTES")
_MOMENTS: Final = tuple(f"F_{name}_TIMESTAMP" for name in "OPEN READ_START WRITE_START CLOSE READ_END WRITE_END".split())

# In the order of a record, without their prefix `CP_`.
INTEGERS: Final[tuple[str, ...]] = (
    *"INDEP_OPENS COLL_OPENS INDEP_READS INDEP_WRITES COLL_READS COLL_WRITES SPLIT_READS SPLIT_WRITES".split(),
    *"NB_READS NB_WRITES SYNCS POSIX_READS POSIX_WRITES POSIX_OPENS POSIX_SEEKS POSIX_STATS POSIX_MMAPS".split(),
    *"POSIX_FREADS POSIX_FWRITES POSIX_FOPENS POSIX_FSEEKS POSIX_FSYNCS POSIX_FDSYNCS".split(),
    *"INDEP_NC_OPENS COLL_NC_OPENS HDF5_OPENS".split(),
    *(
        f"COMBINER_{name}"
        for name in (
            "NAMED DUP CONTIGUOUS VECTOR HVECTOR_INTEGER HVECTOR INDEXED HINDEXED_INTEGER HINDEXED INDEXED_BLOCK "
            "STRUCT_INTEGER STRUCT SUBARRAY DARRAY F90_REAL F90_COMPLEX F90_INTEGER RESIZED"
        ).split()
    ),
    *"HINTS VIEWS MODE BYTES_READ BYTES_WRITTEN MAX_BYTE_READ MAX_BYTE_WRITTEN CONSEC_READS CONSEC_WRITES".split(),
    *"SEQ_READS SEQ_WRITES RW_SWITCHES MEM_NOT_ALIGNED MEM_ALIGNMENT FILE_NOT_ALIGNED FILE_ALIGNMENT".split(),
    *"MAX_READ_TIME_SIZE MAX_WRITE_TIME_SIZE".split(),
    *(
        f"{what}_{size}"
        for what in "SIZE_READ SIZE_WRITE SIZE_READ_AGG SIZE_WRITE_AGG EXTENT_READ EXTENT_WRITE".split()
        for size in _BINS
    ),
    *_COMMONEST,
    *("DEVICE", "SIZE_AT_OPEN"),
    *_RANKS,
)
FLOATS: Final[tuple[str, ...]] = (
    *_MOMENTS,
    *(f"F_{name}_TIME" for name in "POSIX_READ POSIX_WRITE POSIX_META MPI_META MPI_READ MPI_WRITE MAX_READ MAX_WRITE".split()),
    *_RANK_TIMES,
)
WORDS: Final = (*INTEGERS, *FLOATS)

_NOT_IN_1_23: Final = (*_RANKS, *_RANK_TIMES)
_NOT_IN_1_22: Final = (*_NOT_IN_1_23, "DEVICE", "SIZE_AT_OPEN")
_NOT_IN_1_21: Final = (
    *_NOT_IN_1_22,
    *("INDEP_NC_OPENS", "COLL_NC_OPENS", "HDF5_OPENS"),
    *("MAX_READ_TIME_SIZE", "MAX_WRITE_TIME_SIZE", "F_MAX_READ_TIME", "F_MAX_WRITE_TIME"),
)
# Counters that records of a version lack.
ABSENT: Final[Mapping[str, Sequence[str]]] = {
    "1.21": _NOT_IN_1_21,
    "1.22": _NOT_IN_1_22,
    **dict.fromkeys(("1.23", "1.24"), _NOT_IN_1_23),
    **dict.fromkeys((f"2.0{minor}" for minor in range(7)), ()),
}

_EDGES: Final = {
    "F_OPEN_START_TIMESTAMP": "F_OPEN_TIMESTAMP",
    "F_CLOSE_END_TIMESTAMP": "F_CLOSE_TIMESTAMP",
    **{name: name for call in ("READ", "WRITE") for edge in ("START", "END") for name in (f"F_{call}_{edge}_TIMESTAMP",)},
}


def _times(layer: str) -> dict[str, str]:
    return {f"F_{what}_TIME": f"F_{layer}_{what}_TIME" for what in ("READ", "WRITE", "META")}


def _same(module: str) -> dict[str, str]:
    """Counters of one of today's modules that had the same name then."""
    known = {*WORDS}
    return {word: word for word in (*COUNTERS[module].integers, *COUNTERS[module].floats) if word in known}


# For each of today's modules: its counters, and the old counter that each is taken from.
SOURCES: Final[Mapping[str, Mapping[str, str]]] = {
    "POSIX": {
        **_same("POSIX"),
        **{word: f"POSIX_{word}" for word in "OPENS READS WRITES SEEKS STATS MMAPS FSYNCS FDSYNCS".split()},
        **_EDGES,
        **_times("POSIX"),
    },
    "STDIO": {
        **_same("STDIO"),
        **{word: f"POSIX_F{word}" for word in "OPENS READS WRITES SEEKS".split()},
        **_EDGES,
        **_times("POSIX"),
    },
    "MPI-IO": {
        # Their bytes, the commonest sizes and the slowest call are those of POSIX.
        **{
            word: source
            for word, source in _same("MPI-IO").items()
            if "BYTES" not in word and not word.startswith(("ACCESS", "RW_", "MAX_", "F_MAX_"))
        },
        **_EDGES,
        **_times("MPI"),
    },
    "H5F": {"OPENS": "HDF5_OPENS"},
    # The one that is taken is added to the other.
    "PNETCDF_FILE": {"OPENS": "COLL_NC_OPENS"},
}
# Which calls show that a layer was used.
CALLS: Final[Mapping[str, Sequence[str]]] = {
    "POSIX": tuple(f"POSIX_{word}" for word in "OPENS READS WRITES SEEKS STATS MMAPS FSYNCS FDSYNCS".split()),
    "STDIO": tuple(f"POSIX_F{word}" for word in "OPENS READS WRITES SEEKS".split()),
    "MPI-IO": (*INTEGERS[: INTEGERS.index("POSIX_READS")], "HINTS", "VIEWS"),
    "H5F": ("HDF5_OPENS",),
    "PNETCDF_FILE": ("INDEP_NC_OPENS", "COLL_NC_OPENS"),
}
# Counters that are of whichever layer was used.
MOMENTS: Final = frozenset(_MOMENTS)
RANKS: Final = frozenset((*_RANKS, *_RANK_TIMES))
DATA: Final = frozenset(word for word in SOURCES["POSIX"].values() if word not in {*CALLS["POSIX"], *MOMENTS, *RANKS, "MODE"})
# What a sum over files does not say: Darshan adds these up, or sets them to 0, where a rank has more files than it keeps.
NOT_OF_SUMS: Final = frozenset(
    (
        *(*MOMENTS, *RANKS, *_COMMONEST),
        *"MODE CONSEC_READS CONSEC_WRITES SEQ_READS SEQ_WRITES MAX_BYTE_READ MAX_BYTE_WRITTEN".split(),
        *"MEM_ALIGNMENT FILE_ALIGNMENT MAX_READ_TIME_SIZE MAX_WRITE_TIME_SIZE F_MAX_READ_TIME F_MAX_WRITE_TIME".split(),
    )
)
# From this format on times of day are since the start of MPI; those before say nothing.
FIRST_WITH_MOMENTS: Final = "2.03"
# From this one on the fastest rank of a file that went through MPI-IO is the one that was fastest there.
FIRST_WITH_RANKS_OF_MPIIO: Final = "2.05"
FIRST_WITH_MOUNTS: Final = "1.23"


@dataclass(frozen=True, slots=True)
class Caveat:
    """A caveat about modules in some formats.

    Attributes:
        modules: those of today that it is about.
        first: first format that it applies to.
        last: last one.
        text: what it is.
    """

    modules: tuple[str, ...]
    first: str
    last: str
    text: str


CAVEATS: Final = (
    Caveat(("POSIX", "STDIO"), "1.21", "1.22", "the time of syncs is among that of metadata"),
    Caveat(("POSIX", "STDIO", "MPI-IO"), "1.21", "2.01", "calls of programs with threads may be miscounted"),
    Caveat(("POSIX", "STDIO", "MPI-IO"), "1.21", "2.02", "when calls were made is not known"),
    Caveat(("POSIX", "STDIO"), "2.03", "2.05", "the time of the first open is when it ended"),
    Caveat(("POSIX", "STDIO"), "2.03", "2.06", "last reads and writes of files that went through MPI-IO have its times"),
    Caveat(("MPI-IO",), "1.21", "2.06", "bytes were not counted"),
    Caveat(("POSIX", "STDIO"), "2.00", "2.04", "fastest and slowest rank are those by time in POSIX and stdio alone"),
    Caveat(("POSIX", "STDIO", "MPI-IO"), "1.21", "1.22", "the mounts of files are not known"),
    Caveat(("POSIX", "STDIO", "MPI-IO"), "1.23", "1.23", "the mounts of files of ranks above 0 may be wrong"),
)


def is_legacy(format_version: str) -> bool:
    """Whether these rules apply to a format."""
    return format_version in ABSENT


@cache
def columns(module: str, version: str) -> Mapping[str, str | None]:
    """Columns of a module's table, and the counter that each is taken from in a format; None where it is not known.

    There are none of a module that the format knows nothing of.
    """
    sources, absent = SOURCES[module], {*ABSENT[version]}
    if absent.issuperset(CALLS[module]):
        return {}
    if version < FIRST_WITH_MOMENTS:
        absent |= MOMENTS
    if module == "MPI-IO" and version < FIRST_WITH_RANKS_OF_MPIIO:
        absent |= RANKS
    found = {}
    for word in (*COUNTERS[module].integers, *COUNTERS[module].floats):
        source = sources.get(word)
        found[field_of(word).name] = None if source in absent else source
    return found


@cache
def caveats(module: str, version: str) -> tuple[str, ...]:
    """Texts of the caveats about a module in a format."""
    return tuple(each.text for each in CAVEATS if module in each.modules and each.first <= version <= each.last)
