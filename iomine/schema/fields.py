"""Every word of the project: a column's name, kind and one sentence, each defined once.

A kind fixes the Arrow type and the unit, and the unit stands in the name (`read_bytes`, `meta_seconds`). Tables list
names only; the Arrow schemas, the types that views must return and the data dictionary are computed from here.
"""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import pyarrow as pa


class _Kind(NamedTuple):
    """What a kind of column holds; the label keeps kinds of equal type and unit apart."""

    label: str
    type: pa.DataType
    unit: str


class Kind(_Kind, Enum):
    """What a column holds: its Arrow type and its unit."""

    ID = ("id", pa.int64(), "")
    TEXT = ("text", pa.string(), "")
    # A few texts over and over: an index into them is smaller in memory and faster to write.
    LABEL = ("label", pa.dictionary(pa.int32(), pa.string()), "")
    INTEGER = ("integer", pa.int64(), "")
    COUNT = ("count", pa.int64(), "count")
    BYTES = ("bytes", pa.int64(), "bytes")
    SECONDS = ("seconds", pa.float64(), "s")
    CORE_SECONDS = ("core_seconds", pa.float64(), "core s")
    RATIO = ("ratio", pa.float64(), "")
    NUMBER = ("number", pa.float64(), "")
    FLAG = ("flag", pa.bool_(), "")
    TIME = ("time", pa.timestamp("us", tz="UTC"), "UTC")
    DATE = ("date", pa.date32(), "UTC")
    INTEGERS = ("integers", pa.list_(pa.int64()), "")
    TEXTS = ("texts", pa.list_(pa.string()), "")


@dataclass(frozen=True, slots=True)
class Field:
    """One column, wherever it appears.

    Attributes:
        name: the word, the same in every table and view.
        kind: Arrow type and unit.
        about: one sentence for the data dictionary.
    """

    name: str
    kind: Kind
    about: str

    @property
    def type(self) -> pa.DataType:
        """The Arrow type."""
        return self.kind.type

    @property
    def unit(self) -> str:
        """The unit, empty where there is none."""
        return self.kind.unit


def _fields(kind: Kind, **about: str) -> dict[str, Field]:
    return {name: Field(name, kind, sentence) for name, sentence in about.items()}


_LOGS = {
    **_fields(
        Kind.TEXT,
        log_id="First 16 hex digits of the SHA-256 of the log file's bytes.",
        cluster="Name of the machine that the log came from, as given to the sweep.",
        job_id="The scheduler's job id, as text; one job may hold many logs.",
        user="Login name, from the log's file name where it follows Darshan's pattern, otherwise empty.",
        exe="Command line of the program, as Darshan kept it (cut at about 3 KB by Darshan).",
        app="Program name: the last part of the executable's path, without arguments.",
        format_version="Version of the log file format.",
        darshan_version="Version of the Darshan library that wrote the log.",
        path="Path of the file, as the program or the sweep named it.",
        doubt="Why the log's header is not to be trusted, empty where it is sound.",
        mount="Mount point, the longest that is a prefix of the path.",
        fs_type="Type of the file system mounted there.",
        key="Name of a metadata entry or hint.",
        entry="Value of a metadata entry or hint.",
        module="Name of a Darshan module.",
        state="State: of a module read, unsound or unsupported; of a verdict fired, clear or unknown.",
        reason="Why, in a sentence that a person understands.",
        pool="UUID of the DAOS pool, in hex.",
        container="UUID of the DAOS container, in hex.",
        pool_name="Name of the OST pool, empty without one.",
    ),
    **_fields(
        Kind.LABEL,
        layer="Layer of the I/O stack: posix, mpiio, stdio.",
        host="Name of the compute node.",
        op="Direction of a request: read or write.",
    ),
    **_fields(
        Kind.ID,
        file_id="Darshan's record id of the file or object: a 64-bit hash, its bits read as a signed number.",
        parent_file_id="Record id of the file that holds the dataset or variable, as file_id.",
        uid="Numeric user id.",
        thread_id="Id of the thread that issued the request, where the trace carries one.",
        oid_hi="High half of the DAOS object id, its bits read as a signed number.",
        oid_lo="Low half of the DAOS object id, its bits read as a signed number.",
    ),
    **_fields(
        Kind.DATE,
        night="UTC date on which the log ended; the partition key of the lake.",
        first_night="First night with a log.",
        last_night="Last night with a log.",
    ),
    **_fields(
        Kind.TIME,
        start_at="Start of the run.",
        end_at="End of the run.",
        at="Time of the event.",
    ),
    **_fields(
        Kind.INTEGER,
        rank="MPI rank; -1 is Darshan's shared record, which sums or reduces over all ranks.",
        nprocs="Number of processes of the run.",
        module_version="Version of the module's record layout.",
        component="Index of the layout component of the file, from 0.",
    ),
    **_fields(
        Kind.FLAG,
        is_partial="True where Darshan ran out of memory for records, so that some are missing.",
        is_shared="True where all ranks share one record of the file; of a whole file, where more than one rank touched it.",
        is_complete="True where nothing that the answer needs is missing from the log.",
    ),
    **_fields(
        Kind.SECONDS,
        run_seconds="Length of the run, from start to end.",
        start_seconds="Start, in seconds since the start of the run.",
        end_seconds="End, in seconds since the start of the run.",
        bin_seconds="Width of a heat map's time bin.",
    ),
    **_fields(
        Kind.INTEGERS,
        ost_ids="Indices of the OSTs that the component is striped over, in stripe order.",
        read_bins="Bytes read in each time bin.",
        write_bins="Bytes written in each time bin.",
        server_histogram="Requests by MDHIM server.",
    ),
    **_fields(
        Kind.CORE_SECONDS,
        io_core_seconds=(
            "Time that ranks spent in reads, writes and metadata calls of POSIX, STDIO and DFS, summed over ranks; "
            "in a view of one module, of that module alone."
        ),
        run_core_seconds="Length of the run times its processes.",
        cost_core_seconds="Time that ranks spent in the requests that a finding is about, summed over ranks.",
    ),
    **_fields(
        Kind.BYTES,
        size_bytes="Size of the file on disk.",
        region_bytes="Compressed size of the module's region in the log.",
        offset_bytes="Where in the file the request starts.",
        length_bytes="Length of the request.",
    ),
    **_fields(
        Kind.COUNT,
        record_count="Number of records.",
        log_count="Number of logs.",
        file_count="Number of files.",
        rank_count="Number of ranks that touched the file: of a shared record all of the run.",
        finding_count="Number of findings.",
        bin_count="Number of time bins.",
        fs_ost_count="OSTs of the whole file system, where the log says so (Lustre records of version 1).",
        fs_mdt_count="MDTs of the whole file system, where the log says so (Lustre records of version 1).",
    ),
}

_SWEEPS = {
    **_fields(
        Kind.TEXT,
        sweep_id="Identifier of one run of the sweep.",
        sha256="SHA-256 of the file's bytes in hex, empty where they could not be read.",
        stage="Where reading ended: find, identify or read.",
        reader_version="Version of iomine that decided.",
        table_versions="Delta version of every table as of this sweep, as JSON.",
        table_name="Name of a table or view.",
        column_name="Name of a column.",
        type="SQL type.",
        unit="Unit of measure.",
        about="Meaning, in one sentence.",
    ),
    **_fields(
        Kind.TEXTS,
        paths="Paths that the sweep was given.",
    ),
    **_fields(
        Kind.FLAG,
        is_final="True where the bytes themselves are at fault, so that reading them again is in vain.",
    ),
    **_fields(
        Kind.COUNT,
        found_count="Candidates found.",
        ingested_count="Logs read and committed.",
        known_count="Candidates whose bytes were in the lake already.",
        rejected_count="Candidates that could not be read.",
    ),
}

_VERDICTS = {
    **_fields(
        Kind.TEXT,
        ruleset="Name of the set of triggers.",
        code="Code of the trigger.",
        level="Weight of the trigger: high, warn, info or ok.",
        trigger_version="Version of the trigger that gave the verdict.",
        title="What a trigger looks for, in one sentence.",
        view_name="View that holds a trigger's metrics.",
        finding="What was found, in a sentence with the log's own numbers.",
        advice="What to change.",
        report="Link to the log's report, relative to the warehouse.",
    ),
    **_fields(
        Kind.NUMBER,
        value="Value of the trigger's first metric for this log.",
        bar="The bar that the value was held against.",
    ),
    **_fields(
        Kind.COUNT,
        small_read_count="Reads of 1 MiB or less: Darshan's five lowest size bins.",
        small_write_count="Writes of 1 MiB or less: Darshan's five lowest size bins.",
    ),
    **_fields(
        Kind.CORE_SECONDS,
        read_core_seconds="Time that ranks spent in reads, summed over ranks.",
        write_core_seconds="Time that ranks spent in writes, summed over ranks.",
        meta_core_seconds="Time that ranks spent in metadata calls, summed over ranks.",
    ),
    **_fields(
        Kind.SECONDS,
        meta_seconds_per_rank="Time in metadata calls, averaged over the ranks of the run.",
    ),
    **_fields(
        Kind.RATIO,
        small_read_ratio="Share of reads that were small.",
        small_write_ratio="Share of writes that were small.",
        meta_ratio="Share of the I/O time spent in metadata calls.",
        io_ratio="Share of the run's core-seconds spent in I/O.",
    ),
}

_DRISHTI = {
    **_fields(
        Kind.RATIO,
        read_count_lead_ratio="Reads less writes, over both: 1 where there are only reads, -1 where there are only writes.",
        write_count_lead_ratio="Writes less reads, over both: 1 where there are only writes, -1 where there are only reads.",
        read_bytes_lead_ratio="Bytes read less bytes written, over both: 1 where all were read, -1 where all were written.",
        write_bytes_lead_ratio="Bytes written less bytes read, over both: 1 where all were written, -1 where all were read.",
        mem_not_aligned_ratio="Share of reads and writes whose memory buffer was not aligned.",
        file_not_aligned_ratio="Share of reads and writes whose file offset was not aligned.",
        random_read_ratio="Share of reads that were random.",
        random_write_ratio="Share of writes that were random.",
        small_shared_read_ratio="Share of reads in shared records that were small.",
        small_shared_write_ratio="Share of writes in shared records that were small.",
        shared_bytes_spread_ratio=(
            "Of the shared record where it is highest: bytes that slowest and fastest rank differ by, over bytes of all ranks."
        ),
        shared_seconds_spread_ratio=(
            "Of the shared record where it is highest: I/O time that slowest and fastest rank differ by, over that of all ranks."
        ),
        own_read_spread_ratio=(
            "Of the file where it is highest, among records that are not shared: most bytes read by a rank less fewest, "
            "over most."
        ),
        own_write_spread_ratio=(
            "Of the file where it is highest, among records that are not shared: most bytes written by a rank less fewest, "
            "over most."
        ),
        stdio_ratio="Share of the bytes of POSIX, STDIO and MPI-IO that went through stdio.",
    ),
    **_fields(
        Kind.COUNT,
        random_read_count="Reads that were not sequential, a rank's first read of each file among them.",
        random_write_count="Writes that were not sequential, a rank's first write to each file among them.",
        shared_read_count="Reads in shared records.",
        shared_write_count="Writes in shared records.",
        small_shared_read_count="Reads of 1 MiB or less in shared records.",
        small_shared_write_count="Writes of 1 MiB or less in shared records.",
        mpiio_read_count="Independent and collective reads through MPI-IO, split and non-blocking ones left out.",
        mpiio_write_count="Independent and collective writes through MPI-IO, split and non-blocking ones left out.",
        aggregator_count="Nodes that do collective MPI-IO for all, as the hint cb_nodes asks for.",
        job_node_count="Compute nodes of the job, from the hosts that the log names for all of its ranks.",
    ),
    **_fields(
        Kind.BYTES,
        read_offset_lead_bytes="Highest offset read in any file, less the bytes read of all files.",
        write_offset_lead_bytes="Highest offset written in any file, less the bytes written to all files.",
        stdio_bytes="Bytes read and written through stdio.",
    ),
    **_fields(
        Kind.SECONDS,
        longest_meta_seconds="Metadata time of the record that has the most; a shared record has the sum over ranks.",
    ),
    **_fields(
        Kind.INTEGER,
        no_mpiio="1 where the log has no MPI-IO module, 0 where it has one.",
        node_evidence="What the number of nodes is known from: 2 the scheduler's accounting, 1 the hosts that the log names.",
        aggregators_differ="1 where the hint cb_nodes is not the number of nodes, 0 where it is.",
        aggregator_order=(
            "Where the hint cb_nodes sorts against the number of nodes, both taken as text: -1 before it, 0 equal, 1 behind it."
        ),
    ),
}
