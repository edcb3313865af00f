"""Darshan's counters: each module's words in the order of the log format, and the field that each word becomes.

The order is that of the counter lists in Darshan's header files (`include/darshan-*-log-format.h`); a test compares it
with the names that libdarshan-util itself knows. A word means the same in every module, so it becomes the same
field: `BYTES_READ` is `read_bytes` in POSIX, STDIO and HDF5 alike.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from iomine.schema.fields import Field, Kind, Privacy

_OPS: Final = ("READ", "WRITE")
_BINS: Final = (
    "0_100",
    "100_1K",
    "1K_10K",
    "10K_100K",
    "100K_1M",
    "1M_4M",
    "4M_10M",
    "10M_100M",
    "100M_1G",
    "1G_PLUS",
)


def _sizes(infix: str) -> tuple[str, ...]:
    return tuple(f"SIZE_{op}_{infix}{size}" for op in _OPS for size in _BINS)


def _top4(*patterns: str) -> tuple[str, ...]:
    return tuple(pattern.format(n) for pattern in patterns for n in range(1, 5))


def _hyperslabs() -> tuple[str, ...]:
    """The four commonest accesses of a dataset or variable: bytes, then length and stride in up to 5 dimensions."""
    words: list[str] = []
    for n in range(1, 5):
        words.append(f"ACCESS{n}_ACCESS")
        words += [f"ACCESS{n}_{what}_D{d}" for what in ("LENGTH", "STRIDE") for d in range(1, 6)]
    return (*words, *_top4("ACCESS{}_COUNT"))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_RANKS: Final = _words("FASTEST_RANK FASTEST_RANK_BYTES SLOWEST_RANK SLOWEST_RANK_BYTES")
_EDGES: Final = tuple(f"F_{call}_{edge}_TIMESTAMP" for edge in ("START", "END") for call in ("OPEN", "READ", "WRITE", "CLOSE"))
_TIMES: Final = _words(
    "F_READ_TIME F_WRITE_TIME F_META_TIME F_MAX_READ_TIME F_MAX_WRITE_TIME F_FASTEST_RANK_TIME F_SLOWEST_RANK_TIME"
)
_VARIANCES: Final = _words("F_VARIANCE_RANK_TIME F_VARIANCE_RANK_BYTES")
_SLOWEST_CALLS: Final = _words("RW_SWITCHES MAX_READ_TIME_SIZE MAX_WRITE_TIME_SIZE")


@dataclass(frozen=True, slots=True)
class Counters:
    """Words of a module's records, without the module's prefix.

    Attributes:
        integers: the int64 counters, in the order of the record.
        floats: the float64 counters, which follow them.
    """

    integers: tuple[str, ...]
    floats: tuple[str, ...]


COUNTERS: Final[dict[str, Counters]] = {
    "POSIX": Counters(
        _words(
            "OPENS FILENOS DUPS READS WRITES SEEKS STATS MMAPS FSYNCS FDSYNCS RENAME_SOURCES RENAME_TARGETS RENAMED_FROM "
            "MODE BYTES_READ BYTES_WRITTEN MAX_BYTE_READ MAX_BYTE_WRITTEN CONSEC_READS CONSEC_WRITES SEQ_READS SEQ_WRITES "
            "RW_SWITCHES MEM_NOT_ALIGNED MEM_ALIGNMENT FILE_NOT_ALIGNED FILE_ALIGNMENT MAX_READ_TIME_SIZE MAX_WRITE_TIME_SIZE"
        )
        + _sizes("")
        + _top4("STRIDE{}_STRIDE", "STRIDE{}_COUNT", "ACCESS{}_ACCESS", "ACCESS{}_COUNT")
        + _RANKS,
        _EDGES + _TIMES + _VARIANCES,
    ),
    "MPI-IO": Counters(
        _words(
            "INDEP_OPENS COLL_OPENS INDEP_READS INDEP_WRITES COLL_READS COLL_WRITES SPLIT_READS SPLIT_WRITES NB_READS "
            "NB_WRITES SYNCS HINTS VIEWS MODE BYTES_READ BYTES_WRITTEN"
        )
        + _SLOWEST_CALLS
        + _sizes("AGG_")
        + _top4("ACCESS{}_ACCESS", "ACCESS{}_COUNT")
        + _RANKS,
        _EDGES + _TIMES + _VARIANCES,
    ),
    "STDIO": Counters(
        _words("OPENS FDOPENS READS WRITES SEEKS FLUSHES BYTES_WRITTEN BYTES_READ MAX_BYTE_READ MAX_BYTE_WRITTEN") + _RANKS,
        _words(
            "F_META_TIME F_WRITE_TIME F_READ_TIME F_OPEN_START_TIMESTAMP F_CLOSE_START_TIMESTAMP F_WRITE_START_TIMESTAMP "
            "F_READ_START_TIMESTAMP F_OPEN_END_TIMESTAMP F_CLOSE_END_TIMESTAMP F_WRITE_END_TIMESTAMP F_READ_END_TIMESTAMP "
            "F_FASTEST_RANK_TIME F_SLOWEST_RANK_TIME"
        )
        + _VARIANCES,
    ),
    "H5F": Counters(
        _words("OPENS FLUSHES USE_MPIIO"),
        _words("F_OPEN_START_TIMESTAMP F_CLOSE_START_TIMESTAMP F_OPEN_END_TIMESTAMP F_CLOSE_END_TIMESTAMP F_META_TIME"),
    ),
    "H5D": Counters(
        _words(
            "OPENS READS WRITES FLUSHES BYTES_READ BYTES_WRITTEN RW_SWITCHES REGULAR_HYPERSLAB_SELECTS "
            "IRREGULAR_HYPERSLAB_SELECTS POINT_SELECTS MAX_READ_TIME_SIZE MAX_WRITE_TIME_SIZE"
        )
        + _sizes("AGG_")
        + _hyperslabs()
        + _words(
            "DATASPACE_NDIMS DATASPACE_NPOINTS DATATYPE_SIZE CHUNK_SIZE_D1 CHUNK_SIZE_D2 CHUNK_SIZE_D3 CHUNK_SIZE_D4 "
            "CHUNK_SIZE_D5 USE_MPIIO_COLLECTIVE USE_DEPRECATED"
        )
        + _RANKS,
        _EDGES + _TIMES + _VARIANCES,
    ),
    "PNETCDF_FILE": Counters(
        _words("CREATES OPENS REDEFS INDEP_WAITS COLL_WAITS SYNCS BYTES_READ BYTES_WRITTEN WAIT_FAILURES"),
        tuple(f"F_{call}_{edge}_TIMESTAMP" for edge in ("START", "END") for call in ("OPEN", "CLOSE", "WAIT"))
        + _words("F_META_TIME F_WAIT_TIME"),
    ),
    "PNETCDF_VAR": Counters(
        _words("OPENS INDEP_READS INDEP_WRITES COLL_READS COLL_WRITES NB_READS NB_WRITES BYTES_READ BYTES_WRITTEN RW_SWITCHES")
        + tuple(f"{call}_VAR{shape}" for call in ("PUT", "GET") for shape in ("", "1", "A", "S", "M", "N", "D"))
        + tuple(f"{call}_VAR{shape}" for call in ("IPUT", "IGET", "BPUT") for shape in ("", "1", "A", "S", "M", "N"))
        + _words("MAX_READ_TIME_SIZE MAX_WRITE_TIME_SIZE")
        + _sizes("AGG_")
        + _hyperslabs()
        + _words("NDIMS NPOINTS DATATYPE_SIZE IS_RECORD_VAR")
        + _RANKS,
        _EDGES + _TIMES + _VARIANCES,
    ),
    "BG/Q": Counters(
        _words("CSJOBID NNODES RANKSPERNODE DDRPERNODE INODES ANODES BNODES CNODES DNODES ENODES TORUSENABLED"),
        _words("F_TIMESTAMP"),
    ),
    "DFS": Counters(
        _words(
            "OPENS GLOBAL_OPENS LOOKUPS DUPS READS READXS WRITES WRITEXS NB_READS NB_WRITES GET_SIZES PUNCHES REMOVES STATS "
            "BYTES_READ BYTES_WRITTEN"
        )
        + _SLOWEST_CALLS
        + _sizes("")
        + _top4("ACCESS{}_ACCESS", "ACCESS{}_COUNT")
        + _words("CHUNK_SIZE")
        + _RANKS,
        _EDGES + _TIMES,
    ),
    "DAOS": Counters(
        _words(
            "OBJ_OPENS OBJ_FETCHES OBJ_UPDATES OBJ_PUNCHES OBJ_DKEY_PUNCHES OBJ_AKEY_PUNCHES OBJ_DKEY_LISTS OBJ_AKEY_LISTS "
            "OBJ_RECX_LISTS ARRAY_OPENS ARRAY_READS ARRAY_WRITES ARRAY_GET_SIZES ARRAY_SET_SIZES ARRAY_STATS ARRAY_PUNCHES "
            "ARRAY_DESTROYS KV_OPENS KV_GETS KV_PUTS KV_REMOVES KV_LISTS KV_DESTROYS NB_OPS BYTES_READ BYTES_WRITTEN"
        )
        + _SLOWEST_CALLS
        + _sizes("")
        + _top4("ACCESS{}_ACCESS", "ACCESS{}_COUNT")
        + _words("OBJ_OTYPE ARRAY_CELL_SIZE ARRAY_CHUNK_SIZE")
        + _RANKS,
        _EDGES + _TIMES,
    ),
    "MDHIM": Counters(
        _words("PUTS GETS PUT_MAX_SIZE GET_MAX_SIZE SERVERS"),
        _words("F_PUT_TIMESTAMP F_GET_TIMESTAMP F_PUT_MAX_DURATION F_GET_MAX_DURATION"),
    ),
}

LUSTRE_COMPONENT: Final = _words("STRIPE_SIZE STRIPE_COUNT STRIPE_PATTERN FLAGS EXT_START EXT_END MIRROR_ID")

# Words that no pattern below covers: field, kind, sentence, and privacy rule of each.
_SINGLE: Final[dict[str, tuple[str, Kind, str] | tuple[str, Kind, str, Privacy]]] = {
    "READS": ("read_count", Kind.COUNT, "Read calls."),
    "WRITES": ("write_count", Kind.COUNT, "Write calls."),
    "BYTES_READ": ("read_bytes", Kind.BYTES, "Bytes read."),
    "BYTES_WRITTEN": ("write_bytes", Kind.BYTES, "Bytes written."),
    "MODE": ("mode", Kind.INTEGER, "Access mode given at open."),
    "RENAMED_FROM": (
        "renamed_from_id",
        Kind.ID,
        "Record id of the file's name before a rename, 0 without one.",
        Privacy.FILE_ID,
    ),
    "MAX_BYTE_READ": ("max_read_offset_bytes", Kind.BYTES, "Highest offset read."),
    "MAX_BYTE_WRITTEN": ("max_write_offset_bytes", Kind.BYTES, "Highest offset written."),
    "CONSEC_READS": ("consecutive_read_count", Kind.COUNT, "Reads that began where the one before ended."),
    "CONSEC_WRITES": ("consecutive_write_count", Kind.COUNT, "Writes that began where the one before ended."),
    "SEQ_READS": (
        "sequential_read_count",
        Kind.COUNT,
        "Reads at a higher offset than the one before, consecutive ones included; a rank's first read never counts.",
    ),
    "SEQ_WRITES": (
        "sequential_write_count",
        Kind.COUNT,
        "Writes at a higher offset than the one before, consecutive ones included; a rank's first write never counts.",
    ),
    "RW_SWITCHES": ("rw_switch_count", Kind.COUNT, "Times that access switched between reading and writing."),
    "MEM_NOT_ALIGNED": ("mem_not_aligned_count", Kind.COUNT, "Requests whose memory buffer was not aligned."),
    "MEM_ALIGNMENT": ("mem_alignment_bytes", Kind.BYTES, "Memory alignment that requests were checked against."),
    "FILE_NOT_ALIGNED": ("file_not_aligned_count", Kind.COUNT, "Requests whose file offset was not aligned."),
    "FILE_ALIGNMENT": ("file_alignment_bytes", Kind.BYTES, "File alignment that requests were checked against."),
    "MAX_READ_TIME_SIZE": ("max_read_seconds_bytes", Kind.BYTES, "Length of the slowest read."),
    "MAX_WRITE_TIME_SIZE": ("max_write_seconds_bytes", Kind.BYTES, "Length of the slowest write."),
    "FASTEST_RANK": ("fastest_rank", Kind.INTEGER, "Rank that spent the least time on a shared file."),
    "FASTEST_RANK_BYTES": ("fastest_rank_bytes", Kind.BYTES, "Bytes moved by the fastest rank."),
    "SLOWEST_RANK": (
        "slowest_rank",
        Kind.INTEGER,
        "Rank that spent the most time in I/O: of a record, on the shared file; of a log, in the layers that were called.",
    ),
    "SLOWEST_RANK_BYTES": ("slowest_rank_bytes", Kind.BYTES, "Bytes moved by the slowest rank."),
    "F_READ_TIME": ("read_seconds", Kind.SECONDS, "Time in reads, summed over ranks where the record is shared."),
    "F_WRITE_TIME": ("write_seconds", Kind.SECONDS, "Time in writes, summed over ranks where the record is shared."),
    "F_META_TIME": (
        "meta_seconds",
        Kind.SECONDS,
        "Time in metadata calls such as open, stat and seek, summed over ranks where the record is shared.",
    ),
    "F_WAIT_TIME": ("wait_seconds", Kind.SECONDS, "Time in wait calls."),
    "F_MAX_READ_TIME": ("max_read_seconds", Kind.SECONDS, "Duration of the slowest read."),
    "F_MAX_WRITE_TIME": ("max_write_seconds", Kind.SECONDS, "Duration of the slowest write."),
    "F_FASTEST_RANK_TIME": ("fastest_rank_seconds", Kind.SECONDS, "I/O time of the fastest rank."),
    "F_SLOWEST_RANK_TIME": ("slowest_rank_seconds", Kind.SECONDS, "I/O time of the slowest rank."),
    "F_VARIANCE_RANK_TIME": ("rank_seconds_variance", Kind.NUMBER, "Population variance of I/O time over ranks, in s²."),
    "F_VARIANCE_RANK_BYTES": ("rank_bytes_variance", Kind.NUMBER, "Population variance of bytes moved over ranks, in bytes²."),
    "F_TIMESTAMP": ("timestamp_seconds", Kind.SECONDS, "When the record was taken, in seconds since the epoch."),
    "USE_MPIIO": ("use_mpiio", Kind.INTEGER, "1 where the file was opened through MPI-IO."),
    "USE_MPIIO_COLLECTIVE": ("use_mpiio_collective", Kind.INTEGER, "1 where collective MPI-IO transfers were used."),
    "USE_DEPRECATED": ("use_deprecated", Kind.INTEGER, "1 where deprecated HDF5 calls were used."),
    "DATASPACE_NDIMS": ("dimension_count", Kind.COUNT, "Dimensions of the dataset or variable."),
    "DATASPACE_NPOINTS": ("point_count", Kind.COUNT, "Elements of the dataset or variable."),
    "NDIMS": ("dimension_count", Kind.COUNT, "Dimensions of the dataset or variable."),
    "NPOINTS": ("point_count", Kind.COUNT, "Elements of the dataset or variable."),
    "DATATYPE_SIZE": ("datatype_bytes", Kind.BYTES, "Size of one element."),
    "IS_RECORD_VAR": ("is_record_variable", Kind.INTEGER, "1 where the variable has an unlimited dimension."),
    "CHUNK_SIZE": ("chunk_bytes", Kind.BYTES, "Chunk size of the file."),
    "OBJ_OTYPE": ("object_type", Kind.INTEGER, "DAOS object type id."),
    "ARRAY_CELL_SIZE": ("array_cell_bytes", Kind.BYTES, "Cell size of the DAOS array."),
    "ARRAY_CHUNK_SIZE": ("array_chunk_cells_count", Kind.COUNT, "Cells in a chunk of the DAOS array."),
    "CSJOBID": ("control_system_job_id", Kind.ID, "Job id of the BG/Q control system.", Privacy.NUMBER),
    "NNODES": ("node_count", Kind.COUNT, "BG/Q compute nodes of the job."),
    "RANKSPERNODE": ("ranks_per_node_count", Kind.COUNT, "MPI ranks on a node."),
    "DDRPERNODE": ("node_memory_mib", Kind.INTEGER, "Memory of a node in MiB."),
    "INODES": ("io_node_count", Kind.COUNT, "I/O nodes that served the job."),
    "TORUSENABLED": ("torus_mask", Kind.INTEGER, "Bit mask of the dimensions that are a torus."),
    "SERVERS": ("server_count", Kind.COUNT, "MDHIM servers in use."),
    "PUT_MAX_SIZE": ("max_put_bytes", Kind.BYTES, "Length of the largest put."),
    "GET_MAX_SIZE": ("max_get_bytes", Kind.BYTES, "Length of the largest get."),
    "F_PUT_TIMESTAMP": ("first_put_seconds", Kind.SECONDS, "First put, in seconds since the start of the run."),
    "F_GET_TIMESTAMP": ("first_get_seconds", Kind.SECONDS, "First get, in seconds since the start of the run."),
    "F_PUT_MAX_DURATION": ("max_put_seconds", Kind.SECONDS, "Duration of the slowest put."),
    "F_GET_MAX_DURATION": ("max_get_seconds", Kind.SECONDS, "Duration of the slowest get."),
    "STRIPE_SIZE": ("stripe_bytes", Kind.BYTES, "Stripe size of the Lustre layout component."),
    "STRIPE_COUNT": ("stripe_count", Kind.COUNT, "OSTs that the Lustre layout component is striped over."),
    "STRIPE_PATTERN": ("stripe_pattern", Kind.INTEGER, "Lustre layout pattern (LLAPI: RAID0 1, MDT 0x100, overstriping 0x200)."),
    "FLAGS": ("component_flags", Kind.INTEGER, "Lustre layout component flags, -1 where the log has none."),
    "EXT_START": ("extent_start_bytes", Kind.BYTES, "First byte of the file that the component covers."),
    "EXT_END": ("extent_end_bytes", Kind.BYTES, "End of the part of the file that the component covers, -1 for the file's end."),
    "MIRROR_ID": ("mirror_id", Kind.ID, "Id of the mirror that the component belongs to.", Privacy.OPEN),
}

# Calls that are counted: word, field stem, and what the call is.
_CALLS: Final[dict[str, str]] = {
    "OPENS": "Open calls",
    "FILENOS": "fileno calls",
    "DUPS": "dup calls",
    "SEEKS": "Seek calls",
    "STATS": "stat calls (0 with Darshan 3.5.0 on glibc 2.33 and later, which does not see them)",
    "MMAPS": "mmap calls",
    "FSYNCS": "fsync calls",
    "FDSYNCS": "fdatasync calls",
    "RENAME_SOURCES": "Renames from this name",
    "RENAME_TARGETS": "Renames to this name",
    "INDEP_OPENS": "Independent opens",
    "COLL_OPENS": "Collective opens",
    "INDEP_READS": "Independent reads",
    "INDEP_WRITES": "Independent writes",
    "COLL_READS": "Collective reads",
    "COLL_WRITES": "Collective writes",
    "SPLIT_READS": "Split collective reads",
    "SPLIT_WRITES": "Split collective writes",
    "NB_READS": "Non-blocking reads",
    "NB_WRITES": "Non-blocking writes",
    "NB_OPS": "Non-blocking operations",
    "SYNCS": "Sync calls",
    "HINTS": "Hints given",
    "VIEWS": "File views set",
    "FDOPENS": "fdopen calls",
    "FLUSHES": "Flush calls",
    "REGULAR_HYPERSLAB_SELECTS": "Transfers of a regular hyperslab",
    "IRREGULAR_HYPERSLAB_SELECTS": "Transfers of an irregular hyperslab",
    "POINT_SELECTS": "Transfers of a point selection",
    "CREATES": "Creates",
    "REDEFS": "Redefinitions of the file",
    "INDEP_WAITS": "Independent waits",
    "COLL_WAITS": "Collective waits",
    "WAIT_FAILURES": "Waits that failed",
    "GLOBAL_OPENS": "Opens through a handle that another rank shared",
    "LOOKUPS": "Lookups",
    "READXS": "Indexed reads",
    "WRITEXS": "Indexed writes",
    "GET_SIZES": "Size queries",
    "PUNCHES": "Punches",
    "REMOVES": "Removes",
    "OBJ_OPENS": "Object opens",
    "OBJ_FETCHES": "Object fetches",
    "OBJ_UPDATES": "Object updates",
    "OBJ_PUNCHES": "Object punches",
    "OBJ_DKEY_PUNCHES": "Distribution-key punches",
    "OBJ_AKEY_PUNCHES": "Attribute-key punches",
    "OBJ_DKEY_LISTS": "Distribution-key lists",
    "OBJ_AKEY_LISTS": "Attribute-key lists",
    "OBJ_RECX_LISTS": "Extent lists",
    "ARRAY_OPENS": "Array opens",
    "ARRAY_READS": "Array reads",
    "ARRAY_WRITES": "Array writes",
    "ARRAY_GET_SIZES": "Array size queries",
    "ARRAY_SET_SIZES": "Array size settings",
    "ARRAY_STATS": "Array stats",
    "ARRAY_PUNCHES": "Array punches",
    "ARRAY_DESTROYS": "Array destroys",
    "KV_OPENS": "Key-value opens",
    "KV_GETS": "Key-value gets",
    "KV_PUTS": "Key-value puts",
    "KV_REMOVES": "Key-value removes",
    "KV_LISTS": "Key-value lists",
    "KV_DESTROYS": "Key-value destroys",
    "PUTS": "Puts",
    "GETS": "Gets",
}


def _singular(word: str) -> str:
    """The stem of a call's word: `OBJ_FETCHES` counts `obj_fetch`."""
    stem = word.lower()
    for plural, singular in (("tches", "tch"), ("nches", "nch"), ("shes", "sh"), ("s", "")):
        if stem.endswith(plural):
            return stem.removesuffix(plural) + singular
    return stem


def _edge(call: str, edge: str) -> Field:
    what = {"START": f"When the first {call.lower()} began", "END": f"When the last {call.lower()} ended"}[edge]
    return Field(f"{call.lower()}_{edge.lower()}_seconds", Kind.SECONDS, f"{what}, in seconds since the start of the run.")


def _bin(op: str, size: str) -> Field:
    low, _, high = size.partition("_")
    span = f"longer than {low}" if high == "PLUS" else f"of {low} to {high} bytes"
    return Field(
        f"{op.lower()}_size_{size.lower()}_count",
        Kind.COUNT,
        f"{op.capitalize()}s {span}; a length on the bound counts below it.",
    )


_PATTERNS: Final[tuple[tuple[re.Pattern[str], Callable[..., Field]], ...]] = (
    (re.compile(r"F_(\w+)_(START|END)_TIMESTAMP"), _edge),
    (re.compile(r"SIZE_(READ|WRITE)_(?:AGG_)?(\w+)"), _bin),
    (
        re.compile(r"STRIDE(\d)_STRIDE"),
        lambda n: Field(f"stride{n}_bytes", Kind.BYTES, f"Stride that is number {n} by frequency."),
    ),
    (
        re.compile(r"STRIDE(\d)_COUNT"),
        lambda n: Field(f"stride{n}_count", Kind.COUNT, f"Accesses with the stride that is number {n} by frequency."),
    ),
    (
        re.compile(r"ACCESS(\d)_ACCESS"),
        lambda n: Field(f"access{n}_bytes", Kind.BYTES, f"Request length that is number {n} by frequency."),
    ),
    (
        re.compile(r"ACCESS(\d)_COUNT"),
        lambda n: Field(f"access{n}_count", Kind.COUNT, f"Requests of the length that is number {n} by frequency."),
    ),
    (
        re.compile(r"ACCESS(\d)_(LENGTH|STRIDE)_D(\d)"),
        lambda n, what, d: Field(
            f"access{n}_{what.lower()}_d{d}_count",
            Kind.COUNT,
            f"{what.capitalize()} in elements, in dimension {d} from the fastest, of access number {n} by frequency.",
        ),
    ),
    (
        re.compile(r"CHUNK_SIZE_D(\d)"),
        lambda d: Field(f"chunk_d{d}_count", Kind.COUNT, f"Elements of a chunk in dimension {d} from the fastest."),
    ),
    (
        re.compile(r"([IB]?(?:PUT|GET)_VAR\w?)"),
        lambda call: Field(f"{call.lower()}_count", Kind.COUNT, f"Calls of the family ncmpi_{call.lower()}."),
    ),
    (
        re.compile(r"([A-E])NODES"),
        lambda axis: Field(f"torus_{axis.lower()}_count", Kind.COUNT, f"Nodes in torus dimension {axis}."),
    ),
)


def field_of(word: str) -> Field:
    """The field that a Darshan counter becomes.

    Args:
        word: the counter's name without its module's prefix, such as `BYTES_READ` or `F_META_TIME`.

    Raises:
        KeyError: nothing is known of such a word.
    """
    if word in _SINGLE:
        return Field(*_SINGLE[word])
    if word in _CALLS:
        return Field(f"{_singular(word)}_count", Kind.COUNT, f"{_CALLS[word]}.")
    for pattern, make in _PATTERNS:
        if match := pattern.fullmatch(word):
            return make(*match.groups())
    raise KeyError(word)


def columns_of(module: str) -> tuple[str, ...]:
    """Names of a module's counter fields, integers then floats, in the order of the record."""
    counters = COUNTERS[module]
    return tuple(field_of(word).name for word in counters.integers + counters.floats)
