"""Every word of the project: a column's name, kind and one sentence, each defined once.

A kind fixes the Arrow type and the unit, and the unit stands in the name (`read_bytes`, `meta_seconds`). Tables list
names only; the Arrow schemas, the types that views must return and the data dictionary are computed from here, and
so is what an anonymised export makes of a column.
"""

from dataclasses import dataclass
from enum import Enum, auto
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


class Privacy(Enum):
    """What a column may tell of people and places, and so what an anonymised export makes of it."""

    # Words of this program, of Darshan, or of servers, which no user chooses: they stay.
    OPEN = auto()
    # Words of other programs, which text that went astray may stand in place of: those that everybody knows stay.
    TERM = auto()
    # Names that a site gives: users, accounts, hosts, queues.
    NAME = auto()
    # Names and texts of anybody's making.
    WORD = auto()
    # Paths: each part is a word.
    PATH = auto()
    # A command line: words and paths.
    COMMAND = auto()
    # MPI-IO hints and the like: `name=value;name=value`.
    HINTS = auto()
    # Ids of jobs as text, and names in their place: views tell them apart by their digits.
    JOB = auto()
    # Storage targets: views tell file system and index from `scratch-OST001a`.
    TARGET = auto()
    # Sentences of this program, with names filled in.
    SENTENCE = auto()
    # Digests of files in hex: whoever has the file finds it by them.
    DIGEST = auto()
    # Numbers that name something.
    NUMBER = auto()
    # Darshan's record ids, which are hashes of paths, so that whoever guesses a path can check it.
    FILE_ID = auto()


@dataclass(frozen=True, slots=True)
class Field:
    """One column, wherever it appears.

    Attributes:
        name: the word, the same in every table and view.
        kind: Arrow type and unit.
        about: one sentence for the data dictionary.
        privacy: what it may tell of people and places; None for measures, which tell nothing.
    """

    name: str
    kind: Kind
    about: str
    privacy: Privacy | None = None

    @property
    def type(self) -> pa.DataType:
        """The Arrow type."""
        return self.kind.type

    @property
    def unit(self) -> str:
        """The unit, empty where there is none."""
        return self.kind.unit


def _fields(kind: Kind, privacy: Privacy | None = None, /, **about: str) -> dict[str, Field]:
    return {name: Field(name, kind, sentence, privacy) for name, sentence in about.items()}


_LOGS = {
    **_fields(
        Kind.TEXT,
        Privacy.OPEN,
        cluster="Name of the machine that the log came from, as given to the sweep.",
        format_version="Version of the log file format.",
        module="Name of a Darshan module.",
        state="State: of a module read, unsound, unsupported or unread; of a verdict fired, clear or unknown.",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.TERM,
        darshan_version="Version of the Darshan library that wrote the log.",
        fs_type="Type of the file system mounted there.",
        key="Name of a metadata entry or hint.",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.NAME,
        user="Login name, from the log's file name where it follows Darshan's pattern, otherwise empty.",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.WORD,
        pool="UUID of the DAOS pool, in hex.",
        container="UUID of the DAOS container, in hex.",
        pool_name="Name of the OST pool, empty without one.",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.PATH,
        app="Program name: the last part of the executable's path, without arguments.",
        application=(
            "What was run: the program behind launchers and containers, of an interpreter its script or module; without path, "
            "version, date and hash."
        ),
        path="Path of the file, as the program or the sweep named it.",
        mount="Mount point, the longest that is a prefix of the path.",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.COMMAND,
        exe="Command line of the program, as Darshan kept it (cut at about 3 KB by Darshan).",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.HINTS,
        entry="Value of a metadata entry or hint.",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.JOB,
        job_id="The scheduler's job id, as text; one job may hold many logs.",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.SENTENCE,
        doubt="Why the log's header is not to be trusted, empty where it is sound.",
        reason="Why, in a sentence that a person understands.",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.DIGEST,
        log_id="First 16 hex digits of the SHA-256 of the log file's bytes.",
        lineage_id="Id of runs of the same: of a user's application at one scale, that move data the same ways.",
    ),
    **_fields(
        Kind.LABEL,
        Privacy.OPEN,
        layer="Layer of the I/O stack: posix, mpiio, stdio.",
        op="Direction of a request: read or write.",
        io_signature="Ways in which a program asked to move at least a MiB: reads, writes, reads and writes, or little.",
    ),
    **_fields(
        Kind.LABEL,
        Privacy.NAME,
        host="Name of the compute node.",
    ),
    **_fields(
        Kind.ID,
        Privacy.NUMBER,
        uid="Numeric user id.",
        thread_id="Id of the thread that issued the request, where the trace carries one.",
        oid_hi="High half of the DAOS object id, its bits read as a signed number.",
        oid_lo="Low half of the DAOS object id, its bits read as a signed number.",
    ),
    **_fields(
        Kind.ID,
        Privacy.FILE_ID,
        file_id="Darshan's record id of the file or object: a 64-bit hash, its bits read as a signed number.",
        parent_file_id="Record id of the file that holds the dataset or variable, as file_id.",
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
        is_beneath_mpiio="True where the file goes through MPI-IO, so that POSIX does what MPI-IO asks.",
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
        cost_core_seconds=(
            "Time that ranks spent in the requests that a finding is about, summed over ranks; "
            "where findings are added up, of each log at most its I/O time."
        ),
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
        Privacy.OPEN,
        sweep_id="Identifier of one run of the sweep.",
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
        Kind.TEXT,
        Privacy.DIGEST,
        sha256="SHA-256 of the file's bytes in hex, empty where they could not be read.",
    ),
    **_fields(
        Kind.TEXTS,
        Privacy.PATH,
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

_SERVERS = {
    **_fields(
        Kind.LABEL,
        Privacy.OPEN,
        source_kind="Kind of the input: job_stats, stats, brw_stats, sacct, and so on.",
        target_kind="Kind of the target: ost, mdt, or client.",
        scope="Whom a counter counts for: target, job or client.",
        counter="Name of a counter, as the server has it.",
        counter_unit="Unit of a counter, as the server has it: reqs, bytes, usecs, pages, regs.",
        histogram="What a histogram counts, as its heading says.",
        operation="What a server did: read, write, open, getattr, and so on, as Lustre's counters are called.",
        quality="How far an interval is to be trusted: sound, gap (much longer than usual), restarted or wrapped.",
    ),
    **_fields(
        Kind.LABEL,
        Privacy.TARGET,
        target="Name of a storage target as Lustre has it, such as scratch-OST001a; of a client, that of its device.",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.NAME,
        filesystem="Name of the file system.",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.JOB,
        owner=(
            "Id of the job as Lustre keeps it, cut at 31 bytes, network id of the client, or id of the log where Darshan counts; "
            "empty for a whole target."
        ),
        neighbour="Login name of the user who kept the same targets busiest meanwhile, or the id that Lustre has.",
        neighbour_job_id="Job of that user that did most of it.",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.TARGET,
        busiest_target="OST that moved most bytes.",
    ),
    **_fields(
        Kind.TIME,
        sampled_at="When the counters were read.",
        counted_since_at="Since when they count, where the server says so.",
        last_io_at="When the owner last did I/O on the target.",
        begin_at="Start of the interval.",
        first_at="Earliest time that the input tells of.",
        last_at="Latest time that the input tells of.",
    ),
    **_fields(
        Kind.COUNT,
        sample_count="Times that something was counted.",
        rpc_count="Requests that the server dealt with.",
        target_count="Targets that were used.",
        mdt_count="Metadata targets.",
        job_count="Jobs.",
        slowed_job_count="Jobs whose requests a target took at least twice as long for as usual.",
        logged_job_count="Jobs that have a log.",
        jobless_log_count="Logs of jobs that accounting does not know.",
        row_count="Rows that came of it.",
    ),
    **_fields(
        Kind.NUMBER,
        amount="Sum of what was counted, in the counter's unit.",
        least_amount="Smallest of what was counted, in the counter's unit.",
        most_amount="Largest of what was counted, in the counter's unit.",
        squares_amount="Sum of the squares of what was counted, empty where it has wrapped around.",
        rate="Units a second over the interval.",
        bytes_per_second="Bytes moved for each second of the interval.",
        rpcs_per_second="Requests for each second of the interval.",
        node_hours="Compute nodes times hours.",
        logged_node_hours="Node-hours of jobs that have a log.",
        load_percentile=(
            "Share of the ten-minute slots of 30 nights, in percent, in which a target was less busy than this one; by traffic, "
            "in which others moved less on the same OSTs or file system."
        ),
        bucket=(
            "Label of the histogram's bucket: the most that falls into it where they are powers of two, of offsets the least, "
            "otherwise what was counted itself."
        ),
    ),
    **_fields(
        Kind.SECONDS,
        interval_seconds="Length of the interval.",
        covered_seconds="Part of the ten minutes that readings of the servers cover, or in which the log ran.",
        service_seconds="Time in which the server dealt with requests, summed over them.",
        usual_service_seconds="Time that the same requests usually take: for each kind and size the median of 30 nights.",
        app_usual_service_seconds="Time that they usually take for the same user's application, where it was run five times.",
    ),
    **_fields(
        Kind.RATIO,
        server_slowdown_ratio="Time in which the servers dealt with requests, over the time that these usually take.",
        user_ratio="Share of the busy time of the target that was its user's with most of it.",
        logged_ratio="Share of the node-hours that belong to jobs with a log.",
        own_bytes_ratio=(
            "Share of what the log's OSTs moved meanwhile that was its own by Darshan; of a whole file system, its user's."
        ),
        fullest_ratio="Share of its bytes that were in use on the fullest OST.",
        load_over_mean_ratio="Busy time of the targets that were used, over the mean of all targets of their kind meanwhile.",
        own_ratio="Share of the busy time of the targets that a job used, while it used them, that was its own.",
        neighbour_ratio="Share of that time that was the one user's who had most of what was not its own.",
    ),
    **_fields(
        Kind.BYTES,
        total_bytes="Size of the target.",
        used_bytes="Bytes in use on the target.",
        free_bytes="Bytes that users may still fill.",
    ),
}

_ACCOUNTING = {
    **_fields(
        Kind.TEXT,
        Privacy.TERM,
        exit_code="Exit code and signal, as the scheduler tells them.",
        step="Step of a job: batch, extern, or its number.",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.NAME,
        account="Account or project that the job is charged to.",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.WORD,
        job_name="Name of the job.",
        node_list="Compute nodes of the job, as the scheduler folds them.",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.JOB,
        shown_job_id="The job's id as the scheduler shows it, with the index of an array's task or the like.",
    ),
    **_fields(
        Kind.LABEL,
        Privacy.OPEN,
        scheduler="Scheduler that the accounting came from: slurm, pbs, lsf or uge.",
    ),
    **_fields(
        Kind.LABEL,
        Privacy.TERM,
        job_state="State of a job in Slurm's words: COMPLETED, FAILED, CANCELLED, TIMEOUT, RUNNING, PENDING, and so on.",
    ),
    **_fields(
        Kind.LABEL,
        Privacy.NAME,
        partition="Partition or queue.",
        qos="Quality of service.",
    ),
    **_fields(
        Kind.TEXTS,
        Privacy.NAME,
        hosts="Names of the compute nodes.",
    ),
    **_fields(
        Kind.TIME,
        submit_at="When the job was submitted.",
    ),
    **_fields(
        Kind.COUNT,
        node_count="Compute nodes.",
        core_count="Cores allocated.",
        gpu_count="GPUs allocated.",
    ),
    **_fields(
        Kind.SECONDS,
        limit_seconds="Time limit, empty where there is none.",
    ),
}

_VERDICTS = {
    **_fields(
        Kind.TEXT,
        Privacy.OPEN,
        ruleset="Name of the set of triggers.",
        code="Code of the trigger.",
        level="Weight of the trigger: high, warn, info or ok.",
        trigger_version="Version of the trigger that gave the verdict.",
        title="What a trigger looks for, in one sentence.",
        view_name="View that holds a trigger's metrics.",
        report="Link to the log's report, relative to the warehouse.",
        evidence="What the numbers were worked out from, such as trace, records or heatmap.",
        needs="What input answers the question, and how to get it.",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.SENTENCE,
        finding="What was found, in a sentence with the log's own numbers.",
        advice="What to change.",
    ),
    **_fields(
        Kind.NUMBER,
        value="Value of the trigger's first metric for this log.",
        bar="The bar that the value was held against.",
    ),
    **_fields(
        Kind.COUNT,
        small_read_count="Reads below the size that counts as small; in records and ruleset drishti, of 1 MiB or less.",
        small_write_count="Writes below the size that counts as small; in records and ruleset drishti, of 1 MiB or less.",
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
        slowest_io_seconds=(
            "I/O time of the slowest rank: of shared records together, and of the rank with the slowest files of its own; "
            "Darshan's agg_time_by_slowest."
        ),
    ),
    **_fields(
        Kind.NUMBER,
        moved_bytes_per_second="Bytes moved, over the I/O time of the slowest rank: Darshan's agg_perf_by_slowest.",
    ),
    **_fields(
        Kind.RATIO,
        small_read_ratio="Share of reads that were small.",
        small_write_ratio="Share of writes that were small.",
        meta_ratio="Share of the I/O time spent in metadata calls.",
        io_ratio="Share of the run's core-seconds spent in I/O.",
    ),
}

_REQUESTS = {
    **_fields(
        Kind.BYTES,
        small_read_bytes="Reads of fewer bytes are small; a setting.",
        small_write_bytes="Writes of fewer bytes are small; a setting.",
        asked_bytes="Bytes that the program asked to move: through MPI-IO where a file goes through it, otherwise through POSIX.",
        again_bytes="Bytes that were moved again: those asked for, less those that were touched at all.",
        reread_bytes="Bytes that were read again: by the same rank where a trace tells, otherwise by any.",
        rewritten_bytes="Bytes that were written again: by the same rank where a trace tells, otherwise by any.",
    ),
    **_fields(
        Kind.COUNT,
        backward_read_count="Reads that start before the end of the rank's last read of the file.",
        backward_write_count="Writes that start before the end of the rank's last write to the file.",
        small_count="Requests below the size that counts as small.",
        misaligned_count="Requests of programs' own POSIX calls that start off the file system's blocks.",
        mpiio_misaligned_count="POSIX requests beneath MPI-IO that start off the file system's blocks.",
    ),
    **_fields(
        Kind.RATIO,
        small_read_seconds_ratio="Share of the time in reads and writes that small reads took.",
        small_write_seconds_ratio="Share of the time in reads and writes that small writes took.",
        backward_read_ratio="Share of reads that go backwards.",
        backward_write_ratio="Share of writes that go backwards.",
        backward_read_seconds_ratio="Share of the time in reads and writes that reads going backwards took.",
        backward_write_seconds_ratio="Share of the time in reads and writes that writes going backwards took.",
        misaligned_ratio="Share of requests of programs' own POSIX calls that are misaligned.",
        misaligned_seconds_ratio="Share of the time in reads and writes that misaligned requests of programs' own took.",
        mpiio_misaligned_ratio="Share of POSIX requests beneath MPI-IO that are misaligned.",
        mpiio_misaligned_seconds_ratio="Share of the time in reads and writes that misaligned requests beneath MPI-IO took.",
        reread_ratio="Share of the bytes read that had been read before.",
        rewritten_ratio="Share of the bytes written that had been written before.",
    ),
    **_fields(
        Kind.CORE_SECONDS,
        small_read_core_seconds="Time that ranks spent in small reads: of each file, in proportion to their number.",
        small_write_core_seconds="Time that ranks spent in small writes: of each file, in proportion to their number.",
        backward_read_core_seconds="Time that ranks spent in reads going backwards, in proportion to their number.",
        backward_write_core_seconds="Time that ranks spent in writes going backwards, in proportion to their number.",
        misaligned_core_seconds="Time that ranks spent in misaligned requests of their own: of each file, in proportion.",
        mpiio_misaligned_core_seconds="Time that ranks spent in misaligned requests beneath MPI-IO: of each file, in proportion.",
        reread_core_seconds="Time that ranks spent in reading again: of each file, in proportion to the bytes.",
        rewritten_core_seconds="Time that ranks spent in writing again: of each file, in proportion to the bytes.",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.OPEN,
        size_evidence="What small requests were counted by: sizes (the commonest, which cover all), bins or mean.",
        order_evidence="What requests going backwards were counted by: trace or counters.",
        extent_evidence="What the bytes touched are known from: trace, or size (the highest offset).",
        read_size_evidence="What small reads were counted by: trace, sizes (the commonest, which cover all), or bins.",
        write_size_evidence="What small writes were counted by: trace, sizes (the commonest, which cover all), or bins.",
        read_order_evidence="What reads going backwards were counted by: trace or counters.",
        write_order_evidence="What writes going backwards were counted by: trace or counters.",
        read_extent_evidence="What the bytes that reads touched are known from: trace, or size (the highest offset).",
        write_extent_evidence="What the bytes that writes touched are known from: trace, or size (the highest offset).",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.PATH,
        small_read_path="File in which small reads took most time.",
        small_write_path="File in which small writes took most time.",
        misaligned_path="File in which misaligned requests took most time.",
        reread_path="File of which most bytes were read again.",
        rewritten_path="File of which most bytes were written again.",
    ),
}

_METADATA = {
    **_fields(
        Kind.COUNT,
        meta_call_count="Opens, stats and renames of POSIX and opens of STDIO.",
    ),
    **_fields(
        Kind.RATIO,
        meta_call_ratio="Share of metadata calls among metadata calls, reads and writes.",
    ),
    **_fields(
        Kind.NUMBER,
        meta_calls_per_second="Metadata calls for each second from the first open to the last close.",
    ),
    **_fields(Kind.TEXT, Privacy.PATH, longest_meta_path="File whose metadata calls took most time."),
}

_RANKS = {
    **_fields(
        Kind.TEXT,
        Privacy.OPEN,
        rank_evidence="What ranks' shares are known from: records, trace or heatmap.",
        straggler_evidence="What the ranks' times are known from: records or trace.",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.NAME,
        straggler_host="Compute node of the slowest straggler, where it is known.",
    ),
    **_fields(
        Kind.INTEGER,
        straggler_rank="The slowest straggler.",
        heaviest_rank="Rank that moved most bytes.",
    ),
    **_fields(
        Kind.COUNT,
        straggler_count="Ranks whose requests took so much longer than other ranks' that chance does not explain it.",
        idle_rank_count="Ranks that moved no bytes.",
        active_rank_count="Ranks that did anything.",
    ),
    **_fields(
        Kind.RATIO,
        straggler_slowdown_ratio="Time for a request (or for a byte, if less) of the slowest straggler, over the median rank's.",
        straggler_wait_ratio="Share of the run by which the slowest straggler's I/O time exceeds the median rank's.",
        bytes_max_over_mean_ratio="Bytes of the rank that moved most, over the mean of all ranks.",
        bytes_variation_ratio="Standard deviation of ranks' bytes over their mean.",
        seconds_variation_ratio="Standard deviation of ranks' I/O time over their mean.",
        slowest_over_mean_ratio="I/O time of the slowest rank, over the mean of all ranks.",
        bytes_gini_ratio="Gini coefficient of ranks' bytes: 0 where all moved the same, towards 1 where one moved all.",
        rank0_read_ratio="Share of the bytes read that rank 0 read, of runs with at least 4 ranks.",
        rank0_write_ratio="Share of the bytes written that rank 0 wrote, of runs with at least 4 ranks.",
        rank0_ratio="Share of the bytes moved that rank 0 moved, of runs with at least 4 ranks.",
    ),
    **_fields(
        Kind.BYTES,
        rank0_read_bytes="Bytes that rank 0 read.",
        rank0_write_bytes="Bytes that rank 0 wrote.",
        rank0_bytes="Bytes that rank 0 moved.",
        heaviest_rank_bytes="Bytes of the rank that moved most.",
        mean_rank_bytes="Bytes moved, averaged over all ranks of the run.",
    ),
    **_fields(
        Kind.CORE_SECONDS,
        straggler_core_seconds="Time by which stragglers exceed the median rank's I/O time.",
        heaviest_rank_core_seconds="Time that the rank with most bytes spent in reads and writes.",
        rank0_read_core_seconds="Time that rank 0 spent in reads.",
        rank0_write_core_seconds="Time that rank 0 spent in writes.",
        rank0_core_seconds="Time that rank 0 spent in reads and writes.",
    ),
}

_BOUNDS = {
    **_fields(Kind.SECONDS, mean_seconds="I/O time, averaged over all ranks of the run."),
    **_fields(Kind.BYTES, mean_bytes="Bytes moved, averaged over all ranks of the run."),
}

_COLLECTIVES = {
    **_fields(
        Kind.RATIO,
        indep_read_ratio="Share of independent reads among independent, collective and split ones, of runs with several ranks.",
        indep_write_ratio="Share of independent writes among independent, collective and split ones, of runs with several ranks.",
        indep_read_seconds_ratio="Share of the MPI-IO time that independent reads took.",
        indep_write_seconds_ratio="Share of the MPI-IO time that independent writes took.",
        blocking_ratio="Share of MPI-IO requests that block, among all of them.",
        read_amplification_ratio="Bytes read beneath MPI-IO over bytes read through MPI-IO.",
        write_amplification_ratio="Bytes written beneath MPI-IO over bytes written through MPI-IO.",
    ),
    **_fields(
        Kind.COUNT,
        indep_read_requests_count="Independent reads of files that several ranks read through MPI-IO.",
        indep_write_requests_count="Independent writes to files that several ranks wrote through MPI-IO.",
    ),
    **_fields(
        Kind.CORE_SECONDS,
        indep_read_core_seconds="Time that ranks spent in independent reads, in proportion to their number.",
        indep_write_core_seconds="Time that ranks spent in independent writes, in proportion to their number.",
        blocking_core_seconds="Time that ranks spent in MPI-IO requests that block.",
        read_amplification_core_seconds="Time that ranks spent in reading beneath MPI-IO what nobody asked for.",
        write_amplification_core_seconds="Time that ranks spent in writing beneath MPI-IO what nobody asked for.",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.PATH,
        indep_read_path="File with most independent reads.",
        indep_write_path="File with most independent writes.",
    ),
}

_TRACES = {
    **_fields(Kind.FLAG, is_whole="True where the trace holds all requests that were counted, and no record is missing."),
    **_fields(
        Kind.COUNT,
        traced_count="Requests in the trace.",
        overwriting_rank_count="Ranks that wrote the same bytes, of the file with most of these.",
        host_count="Compute nodes whose ranks read or wrote, as far as they are known.",
        stayed_small_count="Collective calls, at least so many, that ranks carried out themselves, of files with small requests.",
    ),
    **_fields(
        Kind.BYTES,
        ranks_reread_bytes="Bytes that a rank read and another too, each counted once less than it has such ranks.",
        hosts_reread_bytes="Bytes that ranks of several nodes read, each counted once less than it has such nodes.",
        overwritten_bytes="Bytes of files that more than one rank wrote, each counted once.",
    ),
    **_fields(
        Kind.RATIO,
        ranks_reread_ratio="Share of the bytes that ranks read, each counted once for a rank, that another rank had read.",
        overwritten_ratio="Share of the bytes written, each counted once, that more than one rank wrote.",
        shared_stripe_ratio="Share of the stripes written that more than one rank wrote, as if there were no holes.",
        straddle_ratio="Share of requests that touch several stripes, of files whose mean request fits into one.",
        stayed_small_ratio="Share of collective calls that ranks carried out themselves and in small requests.",
        stayed_small_seconds_ratio="Share of the MPI-IO time in collective calls that ranks carried out in small requests.",
        sieve_read_ratio="Bytes that MPI-IO read in order to write, over the bytes that it was asked to write.",
    ),
    **_fields(
        Kind.CORE_SECONDS,
        ranks_reread_core_seconds="Time that ranks spent in reading what another rank had read: of each file, in proportion.",
        overwritten_core_seconds="Time that ranks spent in writing what another rank had written: of each file, in proportion.",
        shared_stripe_core_seconds="Time that ranks spent in writes to shared stripes: of each file, in proportion to stripes.",
        straddle_core_seconds="Time that ranks spent in requests that touch several stripes: of each file, in proportion.",
        stayed_small_core_seconds="Time that ranks spent in collective calls that they carried out in small requests.",
        sieve_read_core_seconds="Time that ranks spent in reading beneath MPI-IO in order to write.",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.OPEN,
        overlap_evidence="What is known of the bytes that several ranks touched: trace, or empty.",
        transform_evidence="What is known of the requests that MPI-IO made: trace, or empty.",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.PATH,
        ranks_reread_path="File of which most bytes were read by several ranks.",
        overwritten_path="File of which most bytes were written by several ranks.",
        shared_stripe_path="File of which most stripes were written by several ranks.",
        straddle_path="File with most requests that touch several stripes, where they could do with one.",
        stayed_small_path="File in which collective calls that stayed independent took most time.",
        sieve_read_path="File of which MPI-IO read most bytes in order to write.",
    ),
}

_FILES = {
    **_fields(
        Kind.COUNT,
        own_file_count="Files with data that one rank alone touched.",
        small_file_count="Files with data of which less than 1 MiB was touched.",
        overstriped_file_count="Files on Lustre that are striped over more OSTs than they have whole stripes.",
    ),
    **_fields(
        Kind.RATIO,
        own_files_per_rank_ratio="Files with data that one rank alone touched, over ranks.",
        small_file_ratio="Share of small files among files with data.",
        overstriped_file_ratio="Share of overstriped files among files on Lustre.",
        data_stdio_ratio="Share of the bytes moved that went through stdio, standard streams left out.",
        ranks_per_ost_ratio="Of the largest shared file on Lustre: ranks of the run for each OST that it is striped over.",
    ),
    **_fields(
        Kind.BYTES,
        single_ost_bytes="Bytes moved of the largest file that several ranks share and that lies on one OST.",
        striped_shared_bytes="Bytes moved of the largest file on Lustre that several ranks share.",
    ),
    **_fields(Kind.COUNT, striped_shared_stripe_count="OSTs over which the largest shared file on Lustre is striped."),
    **_fields(
        Kind.NUMBER,
        io_seconds_per_mib="Core-seconds of I/O for each MiB moved.",
    ),
    **_fields(
        Kind.CORE_SECONDS,
        own_file_core_seconds="Time that ranks spent on files that one rank alone touched, metadata calls included.",
        small_file_core_seconds="Time that ranks spent on small files, metadata calls included.",
        stdio_core_seconds="Time that ranks spent in stdio, standard streams left out.",
        single_ost_core_seconds="Time that ranks spent in reads and writes of the largest shared file that lies on one OST.",
        striped_shared_core_seconds="Time that ranks spent in reads and writes of the largest shared file on Lustre.",
        overstriped_core_seconds="Time that ranks spent on overstriped files, metadata calls included.",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.PATH,
        single_ost_path="The largest file that several ranks share and that lies on one OST.",
        striped_shared_path="The largest file on Lustre that several ranks share.",
        stdio_path="File with most bytes moved through stdio.",
    ),
}

_OFFENDERS = {
    **_fields(Kind.TEXT, Privacy.OPEN, grouped_by="What the row sums up: a user, app, account, or user and app."),
    **_fields(
        Kind.COUNT,
        finding_log_count="Logs with a finding.",
        user_count="Users.",
        app_count="Programs.",
        night_count="Nights.",
        run_night_count="Nights with logs.",
        recent_finding_count="Findings of the last seven nights of the machine.",
        preceding_finding_count="Findings of the seven nights before the last seven.",
        written_file_count="Files written to.",
        small_written_file_count="Files written to, of which less than 1 MiB was touched.",
        unread_file_count="Files written to, of which no log read anything.",
    ),
    **_fields(
        Kind.CORE_SECONDS,
        timed_core_seconds="Length of the runs whose I/O time is known, times their processes.",
        recent_cost_core_seconds="Cost of the findings of the last seven nights of the machine.",
        preceding_cost_core_seconds="Cost of the findings of the seven nights before the last seven.",
        small_written_core_seconds="I/O time of files written to, of which less than 1 MiB was touched.",
    ),
    **_fields(
        Kind.RATIO,
        cost_change_ratio="Cost of the last seven nights over that of the seven before; empty where that is none.",
        cost_ratio="Share of the I/O time that findings cost.",
        finding_log_ratio="Share of logs with a finding.",
        repeat_ratio="Share of the nights with logs that have the finding.",
        small_written_file_ratio="Share of small files among those written to.",
        unread_ratio="Share of the bytes written that lie in files of which no log read anything.",
    ),
    **_fields(
        Kind.BYTES,
        extent_bytes="Where the last byte that POSIX or stdio touched in the file ends.",
        unread_bytes="Bytes written to files of which no log read anything.",
    ),
}

_LINEAGES = {
    **_fields(
        Kind.LABEL,
        Privacy.OPEN,
        regression_kind="What leaves the band of its lineage: a run, or a step since which runs do.",
        outcome=(
            "What became of a finding that was told: gone, reduced, still there, worse where it is gone but I/O takes longer for "
            "its bytes, or unknown where later runs are too few."
        ),
    ),
    **_fields(
        Kind.INTEGER,
        least_nprocs="Fewest processes of a run.",
        most_nprocs="Most processes of a run.",
    ),
    **_fields(
        Kind.COUNT,
        lineage_count="Number of lineages.",
        before_count="Runs that could be assessed up to the night on which the finding was told.",
        before_fired_count="Of these, runs in which the trigger fired.",
        later_count="Runs that could be assessed after that night.",
        later_fired_count="Of these, runs in which the trigger fired.",
        clear_since_count="Runs after that night that are clear, since the trigger last fired.",
    ),
    **_fields(
        Kind.FLAG,
        is_regression="True where the runs themselves are slower, as far as is known; false where others or the system are why.",
    ),
    **_fields(
        Kind.DATE,
        told_night="First night on which the finding was published for the lineage.",
        clear_night="Night of the first run after the trigger last fired.",
    ),
    **_fields(
        Kind.TIME,
        since_at="Start of the first run that is slower.",
    ),
    **_fields(
        Kind.CORE_SECONDS,
        usual_io_core_seconds="Median of the I/O time of the lineage's runs; of a regression, of those that it is held against.",
        spread_io_core_seconds="Median absolute deviation of the I/O time.",
        lost_core_seconds="I/O time of a run beyond what is usual for its bytes; of a step, the median over its runs.",
        all_lost_core_seconds="I/O time of all these runs beyond what is usual for their bytes.",
        before_core_seconds="Mean of what the finding cost a run up to the night on which it was told; where clear, nothing.",
        later_core_seconds="Mean of what the finding cost a run after that night; where clear, nothing.",
        saved_core_seconds="What the finding would have cost runs since it was gone or reduced, less what it did.",
    ),
    **_fields(
        Kind.BYTES,
        usual_moved_bytes="Median of the bytes read and written.",
        spread_moved_bytes="Median absolute deviation of the bytes read and written.",
    ),
    **_fields(
        Kind.NUMBER,
        usual_bytes_per_core_second="Median of the bytes moved for each core-second of I/O.",
        spread_bytes_per_core_second="Median absolute deviation of the bytes moved for each core-second of I/O.",
    ),
    **_fields(
        Kind.RATIO,
        io_slowdown_ratio=(
            "How many times as long I/O takes as is usual of the lineage, or for each byte if that is less; median of a step."
        ),
    ),
}

_WEATHER = {
    **_fields(
        Kind.LABEL,
        Privacy.OPEN,
        weather_verdict="Whose fault slow I/O was: application, system, neighbour, or unclear.",
        slowest_kind="Kind of target that cost the log most time beyond what is usual: ost or mdt.",
    ),
    **_fields(
        Kind.TEXT,
        Privacy.OPEN,
        weather_rule="Rule by which the verdict was given, in a sentence.",
    ),
    **_fields(
        Kind.SECONDS,
        lost_service_seconds="Time in which the servers dealt with requests beyond what these usually take.",
    ),
    **_fields(
        Kind.COUNT,
        mdt_rpc_count="Requests that metadata targets dealt with.",
    ),
    **_fields(
        Kind.RATIO,
        weather_slowdown_ratio="How many times as long the log's I/O took as it would have with servers as quick as usual.",
        ost_contention_ratio="Share of the busy time of the log's OSTs, while it used them, that was other users'.",
        others_ratio="Share of the busy time of the targets that cost most, while the log used them, that was other users'.",
        ost_slowdown_ratio="Time in which OSTs dealt with the log's requests, over the time that these usually take.",
        ost_load_over_mean_ratio="Busy time of the OSTs that the log used, over the mean of all OSTs meanwhile.",
        mdt_others_ratio="Share of the busy time of the log's metadata targets, while it used them, that was other users'.",
        mdt_slowdown_ratio="Time in which metadata targets dealt with the log's requests, over the time that these usually take.",
        mdt_own_ratio="Share of the busy time of the log's metadata targets, while it used them, that was its user's.",
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

_DERIVED = {
    **_fields(
        Kind.COUNT,
        request_count="Number of requests.",
        consecutive_count="Requests that start where the rank's request before of the same file and direction ended.",
        backward_count="Requests that start before the end of the rank's request before, rewinds left out.",
        rewind_count="Requests that go back to the lowest offset of the rank in the file, to begin another pass over it.",
    ),
    **_fields(
        Kind.BYTES,
        moved_bytes="Bytes moved, each as often as it was.",
        touched_bytes="Bytes of the file that were moved at all, each counted once.",
    ),
    **_fields(
        Kind.SECONDS,
        request_seconds="Time in requests, summed over ranks.",
    ),
    **_fields(
        Kind.LABEL,
        Privacy.OPEN,
        pattern="How requests follow each other: single, consecutive, sequential, strided, repeated, mixed, random.",
    ),
    **_fields(
        Kind.BYTES,
        stride_bytes="From the start of a request, or of a block of consecutive ones, to that of the next; negative backwards.",
        again_rank_bytes="Bytes that a rank moved again: those that it moved, less those that it touched; summed over ranks.",
        again_host_bytes="Bytes of a rank that another of its host touched too, each counted once less than it has such ranks.",
        overlap_bytes="Bytes of the file that more than one rank touched, each counted once.",
    ),
    **_fields(
        Kind.COUNT,
        overlap_rank_count="Ranks that touched bytes that another touched too.",
        straddle_count="Requests that touch more than one stripe of the file's Lustre layout.",
        shared_stripe_count="Stripes of the file's Lustre layout that more than one rank touched.",
    ),
    **_fields(
        Kind.INTEGER,
        ost_id="Index of the OST, empty where it is not known.",
        detail_level="Level of detail: 0 for a picture of the whole run, 1 for one of an eighth of it.",
    ),
    **_fields(
        Kind.SECONDS,
        tolerance_seconds="Requests with a longer gap between them are rows of their own.",
        busy_seconds="Time in the row's requests, each counted in full where they overlap.",
        longest_seconds="Length of the row's longest request.",
        longest_start_seconds="Start of the row's longest request, in seconds since the start of the run.",
    ),
    **_fields(
        Kind.BYTES,
        tolerance_bytes="Requests with a longer gap between their bytes are rows of their own.",
        end_offset_bytes="Where in the file the last byte of the row ends.",
    ),
    **_fields(
        Kind.COUNT,
        merged_rank_count="Ranks that share the row, from `rank` on; more than 1 where rows would be too many.",
    ),
    **_fields(
        Kind.LABEL,
        Privacy.OPEN,
        transformation="What MPI-IO made of requests: unchanged, split, merged, collective_buffering, data_sieving, mixed.",
    ),
    **_fields(
        Kind.FLAG,
        is_collective="True where some of the MPI-IO calls of that direction on the file were collective.",
        stayed_independent="True where several ranks asked, and most collective calls became requests of the asking rank alone.",
    ),
    **_fields(
        Kind.COUNT,
        stayed_independent_count="Collective calls, at least so many, whose bytes the asking rank moved itself.",
        mpiio_request_count="MPI-IO requests that move something.",
        posix_request_count="POSIX requests that move something, without reads within MPI-IO writes.",
        sieve_read_count="POSIX reads within MPI-IO writes, made to write back more than was asked for.",
        mpiio_rank_count="Ranks with MPI-IO requests.",
        posix_rank_count="Ranks with POSIX requests.",
        aggregator_rank_count="Ranks whose POSIX requests carried bytes of other ranks; 0 where each moved its own.",
    ),
    **_fields(
        Kind.BYTES,
        mpiio_bytes="Bytes of MPI-IO requests.",
        posix_bytes="Bytes of POSIX requests, without reads within MPI-IO writes.",
        mpiio_median_bytes="Median length of MPI-IO requests, the lower where there are two.",
        posix_median_bytes="Median length of POSIX requests, the lower where there are two.",
        sieve_read_bytes="Bytes that POSIX read within MPI-IO writes.",
    ),
    **_fields(
        Kind.INTEGERS,
        aggregator_ranks="Ranks whose POSIX requests carried bytes of other ranks, the first 1,024 in order.",
    ),
    **_fields(
        Kind.RATIO,
        posix_per_mpiio_ratio="POSIX requests for each MPI-IO request.",
        own_request_ratio="Share of POSIX requests made during an MPI-IO request of the same rank on the file.",
        matched_request_ratio="Share of POSIX requests made during an MPI-IO request of any rank, or later of the same bytes.",
        unchanged_ratio="Share of MPI-IO requests that became one POSIX request of the same rank and bytes.",
    ),
}

_PHASES = {
    **_fields(
        Kind.TEXT,
        Privacy.OPEN,
        phase_evidence="What phases are known from: trace or heatmap.",
        period_method="What the period is told by: starts (of phases), or spectrum (of the bytes moved in each moment).",
        ost_evidence="What bytes by OST are known from: trace, or spread where a file's bytes are parted evenly over its OSTs.",
    ),
    **_fields(
        Kind.ID,
        Privacy.OPEN,
        busiest_ost_id="Index of the OST that got most bytes.",
        ost="Index of the OST on which a request begins, empty where it is not known.",
    ),
    **_fields(Kind.BYTES, busiest_ost_bytes="Bytes moved of the OST that got most."),
    **_fields(
        Kind.CORE_SECONDS,
        busiest_ost_core_seconds="Time that ranks spent in requests to the OST that got most bytes.",
        phase_straggler_core_seconds="Time of the slowest rank in phases that have stragglers, over all of these.",
    ),
    **_fields(
        Kind.COUNT,
        io_phase_count="Phases of I/O.",
        phase_straggler_count="Phases in which a rank was a straggler.",
        ost_count="OSTs that got bytes.",
        known_ost_count="OSTs of the file system, at least: as its records say, or up to the highest index in layouts.",
        read_phase_count="Phases in which bytes were read.",
        write_phase_count="Phases in which bytes were written.",
    ),
    **_fields(
        Kind.INTEGER,
        phase="Number of the phase, from 1 in the order of time, within its log and layer.",
    ),
    **_fields(
        Kind.RATIO,
        run_ratio="Share of the run that the phase lasts.",
        phase_straggler_ratio="Share of the phases in which a rank was a straggler.",
        phase_straggler_seconds_ratio="Share of the run that the slowest ranks of phases with stragglers spent in them.",
        ost_max_over_mean_ratio="Bytes of the OST that got most of a log's bytes, over the mean of the OSTs that it used.",
        busiest_ost_ratio="Share of the busiest OST in the bytes of which it is known on which OST they lie.",
        busiest_ost_seconds_ratio="Share of the run that ranks on average spent in requests to the OST that got most bytes.",
        phases_ratio="Share of the run that all phases last together.",
        longest_phase_ratio="Share of the time in phases that the longest one lasts.",
        period_confidence_ratio="How regularly phases come: 1 where all do after one period, 0 where none does.",
        spectrum_confidence_ratio="How like themselves the bytes moved are a period of the spectrum later, as a correlation.",
    ),
    **_fields(
        Kind.SECONDS,
        phase_seconds="Time in phases.",
        longest_phase_seconds="Length of the longest phase.",
        period_seconds="Time from the start of a phase to that of the next, where phases come regularly.",
        spectrum_period_seconds="Time after which the bytes moved are most like themselves; empty where they never are.",
    ),
}
