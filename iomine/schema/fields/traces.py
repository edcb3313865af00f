"""What traces show: stretches, overlaps, phases, periods."""

from iomine.schema.fields.kinds import Kind, Privacy, defined

TRACES = {
    **defined(Kind.FLAG, is_whole="True where the trace holds all requests that were counted, and no record is missing."),
    **defined(
        Kind.COUNT,
        traced_count="Requests in the trace.",
        overwriting_rank_count="Ranks that wrote the same bytes, of the file with most of these.",
        host_count="Compute nodes whose ranks read or wrote, as far as they are known.",
        stayed_small_count="Collective calls (a lower bound) that ranks carried out themselves, of files with small requests.",
    ),
    **defined(
        Kind.BYTES,
        ranks_reread_bytes="Bytes that several ranks read, each counted once less than the number of these ranks.",
        hosts_reread_bytes="Bytes that ranks of several nodes read, each counted once less than the number of these nodes.",
        overwritten_bytes="Bytes of files that more than one rank wrote, each counted once.",
    ),
    **defined(
        Kind.RATIO,
        ranks_reread_ratio="Share of the bytes that ranks read, each counted once for a rank, that another rank had read.",
        overwritten_ratio="Share of the bytes written, each counted once, that more than one rank wrote.",
        shared_stripe_ratio="Share of the stripes written that more than one rank wrote, as if there were no holes.",
        straddle_ratio="Share of requests that touch several stripes, of files whose mean request fits into one.",
        stayed_small_ratio="Share of collective calls that ranks carried out themselves and in small requests.",
        stayed_small_seconds_ratio="Share of the MPI-IO time in collective calls that ranks carried out in small requests.",
        sieve_read_ratio="Bytes that MPI-IO read in order to write, over the bytes that it was asked to write.",
    ),
    **defined(
        Kind.CORE_SECONDS,
        ranks_reread_core_seconds="Time that ranks spent in reading what another rank had read: of each file, in proportion.",
        overwritten_core_seconds="Time that ranks spent in writing what another rank had written: of each file, in proportion.",
        shared_stripe_core_seconds="Time that ranks spent in writes to shared stripes: of each file, in proportion to stripes.",
        straddle_core_seconds="Time that ranks spent in requests that touch several stripes: of each file, in proportion.",
        stayed_small_core_seconds="Time that ranks spent in collective calls that they carried out in small requests.",
        sieve_read_core_seconds="Time that ranks spent in reading beneath MPI-IO in order to write.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.OPEN,
        overlap_evidence="What the bytes that several ranks touched are known from: trace, or empty.",
        transform_evidence="What the requests that MPI-IO made are known from: trace, or empty.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.PATH,
        ranks_reread_path="File of which most bytes were read by several ranks.",
        overwritten_path="File of which most bytes were written by several ranks.",
        shared_stripe_path="File of which most stripes were written by several ranks.",
        straddle_path="File with most requests that touch several stripes, where one would do.",
        stayed_small_path="File in which collective calls that stayed independent took most time.",
        sieve_read_path="File of which MPI-IO read most bytes in order to write.",
    ),
}

DERIVED = {
    **defined(
        Kind.TEXT,
        Privacy.WORD,
        app_step="What a program, or its framework, calls a step above its calls.",
    ),
    **defined(
        Kind.LABEL,
        Privacy.WORD,
        app_layer="What a step belongs to, as the tracer names it: an application, a data loader, a framework.",
    ),
    **defined(
        Kind.COUNT,
        request_count="Number of requests.",
        consecutive_count="Requests that start where the rank's request before of the same file and direction ended.",
        backward_count=(
            "Requests that start before the end of the rank's request before; rewinds, and requests of no length, left out."
        ),
        rewind_count="Requests that go back to the lowest offset of the rank in the file, to begin another pass over it.",
    ),
    **defined(
        Kind.BYTES,
        moved_bytes="Bytes moved, each counted as often as it was moved.",
        touched_bytes="Bytes of the file that were moved at all, each counted once.",
    ),
    **defined(
        Kind.SECONDS,
        request_seconds="Time in requests, summed over ranks; Darshan's counters add syncs to writes: file_requests takes them "
        "off, the time on an OST that counters give has them.",
    ),
    **defined(
        Kind.LABEL,
        Privacy.OPEN,
        pattern="How requests follow each other: single, consecutive, sequential, strided, repeated, mixed, random.",
    ),
    **defined(
        Kind.BYTES,
        stride_bytes="From the start of a request, or of a block of consecutive ones, to that of the next; negative backwards.",
        again_rank_bytes="Bytes that a rank moved again: bytes moved, less bytes touched; summed over ranks.",
        again_host_bytes="Bytes that several ranks of a host touched, each counted once less than the number of these ranks.",
        overlap_bytes="Bytes of the file that more than one rank touched, each counted once.",
    ),
    **defined(
        Kind.COUNT,
        overlap_rank_count="Ranks that touched bytes that another touched too.",
        straddle_count="Requests that touch more than one stripe of the file's Lustre layout.",
        shared_stripe_count="Stripes of the file's Lustre layout that more than one rank touched.",
    ),
    **defined(
        Kind.OST,
        ost_id="Index of the OST, empty where it is not known.",
    ),
    **defined(
        Kind.INTEGER,
        detail_level="Level of detail: 0 for a picture of the whole run, 1 for one of an eighth of it.",
    ),
    **defined(
        Kind.NUMBER,
        typical_seconds_per_byte="Seconds for a byte of the median rank and file on the OST, the faster of two.",
        typical_seconds_per_request="Seconds for a request of the median rank and file on the OST, the faster of two.",
    ),
    **defined(
        Kind.FLAG,
        is_comparable="True where no rank or file explains the pace of the OST: it had several, or ones that other OSTs had too.",
        is_slow=(
            "True where the OST was over 3 times as slow as the median OST, out of line with the others, and made each rank wait "
            "over 5 seconds; empty where that is not known."
        ),
    ),
    **defined(
        Kind.SECONDS,
        beyond_median_seconds="Time in requests beyond what the median OST would have taken for them.",
        tolerance_seconds="Requests with a longer gap between them are rows of their own.",
        busy_seconds="Time in the row's requests, each counted in full where they overlap.",
        longest_seconds="Length of the row's longest request.",
        longest_start_seconds="Start of the row's longest request, in seconds since the start of the run.",
    ),
    **defined(
        Kind.BYTES,
        tolerance_bytes="Requests with a longer gap between their bytes are rows of their own.",
        end_offset_bytes="Where in the file the last byte of the row ends.",
    ),
    **defined(
        Kind.COUNT,
        merged_rank_count="Ranks that share the row, from `rank` on; more than 1 where rows would be too many.",
    ),
    **defined(
        Kind.LABEL,
        Privacy.OPEN,
        transformation="What MPI-IO made of requests: unchanged, split, merged, collective_buffering, data_sieving, mixed.",
    ),
    **defined(
        Kind.FLAG,
        is_collective="True where some of the MPI-IO calls of that direction on the file were collective.",
        stayed_independent="True where several ranks asked, and most collective calls became requests of the asking rank alone.",
    ),
    **defined(
        Kind.COUNT,
        stayed_independent_count="Collective calls (a lower bound) whose bytes the asking rank moved itself.",
        mpiio_request_count="MPI-IO requests that move something.",
        posix_request_count="POSIX requests that move something, without reads within MPI-IO writes.",
        sieve_read_count="POSIX reads within MPI-IO writes, made to write back more than was asked for.",
        mpiio_rank_count="Ranks with MPI-IO requests.",
        posix_rank_count="Ranks with POSIX requests.",
        aggregator_rank_count="Ranks whose POSIX requests carried bytes of other ranks; 0 where each moved its own.",
    ),
    **defined(
        Kind.BYTES,
        mpiio_bytes="Bytes of MPI-IO requests.",
        posix_bytes="Bytes of POSIX requests, without reads within MPI-IO writes.",
        mpiio_median_bytes="Median length of MPI-IO requests, the lower where there are two.",
        posix_median_bytes="Median length of POSIX requests, the lower where there are two.",
        sieve_read_bytes="Bytes that POSIX read within MPI-IO writes.",
    ),
    **defined(
        Kind.INTEGERS,
        aggregator_ranks="Ranks whose POSIX requests carried bytes of other ranks, the first 1,024 in order.",
    ),
    **defined(
        Kind.RATIO,
        posix_per_mpiio_ratio="POSIX requests for each MPI-IO request.",
        own_request_ratio="Share of POSIX requests made during an MPI-IO request of the same rank on the file.",
        matched_request_ratio="Share of POSIX requests made during an MPI-IO request of any rank, or later of the same bytes.",
        unchanged_ratio="Share of MPI-IO requests that became one POSIX request of the same rank and bytes.",
    ),
}

PHASES = {
    **defined(
        Kind.TEXT,
        Privacy.OPEN,
        slow_ost_evidence="What the slow OST's times are known from: records of files on one OST, or trace.",
        phase_evidence="What phases are known from: trace or heatmap.",
        period_method="How the period was found: starts (of phases), or spectrum (of the bytes moved in each moment).",
        ost_evidence="What bytes by OST are known from: trace, or spread where a file's bytes are divided evenly over its OSTs.",
    ),
    **defined(
        Kind.OST,
        busiest_ost_id="Index of the OST that got most bytes.",
        slow_ost_id="Index of the slow OST that cost most time beyond what the median OST would have taken.",
        phase_straggler_ost_id="Slow OST with most of the time of ranks that were slowest in phases with stragglers.",
        ost="Index of the OST on which a request begins, empty where it is not known.",
    ),
    **defined(
        Kind.BYTES,
        busiest_ost_bytes="Bytes moved of the OST that got most.",
        slow_ost_bytes="Bytes moved of the slow OST that cost most time, in directions in which it was slow.",
    ),
    **defined(
        Kind.CORE_SECONDS,
        busiest_ost_core_seconds="Time that ranks spent in requests to the OST that got most bytes.",
        slow_ost_core_seconds="Time in requests to slow OSTs beyond what the median OST would have taken for them.",
        phase_straggler_core_seconds="Time of the slowest rank in phases that have stragglers, summed over these phases.",
    ),
    **defined(
        Kind.COUNT,
        io_phase_count="Phases of I/O, of reads and of writes.",
        bursts_per_rank="Bursts of a rank, by the gaps of its own requests: of each direction the (lower) median over ranks.",
        phase_straggler_count="Phases in which a rank was a straggler.",
        ost_count="OSTs that got bytes.",
        slow_ost_count="OSTs that were slow, empty where the OST of nine tenths of the bytes is not known.",
        compared_ost_count="OSTs that were compared with each other in one direction, the most of any.",
        known_ost_count="OSTs of the file system, at least: as its records say, or up to the highest index in layouts.",
        read_bursts_per_rank="Bursts in which a rank reads, by the gaps of its own requests: the (lower) median over ranks.",
        write_bursts_per_rank="Bursts in which a rank writes, by the gaps of its own requests: the (lower) median over ranks.",
        read_phase_count="Phases in which bytes were read.",
        write_phase_count="Phases in which bytes were written.",
    ),
    **defined(
        Kind.INTEGER,
        phase="Number of the phase, from 1 in the order of time, within its log and layer.",
    ),
    **defined(
        Kind.RATIO,
        run_ratio="Share of the run that the phase lasts.",
        phase_straggler_ratio="Share of the phases in which a rank was a straggler.",
        phase_straggler_seconds_ratio="Share of the run that the slowest ranks of phases with stragglers spent in them.",
        phase_straggler_ost_ratio=(
            "Share of ranks whose time is on a slow OST in the time of the slowest ranks in phases with stragglers."
        ),
        slowness_ratio="Time of the OST for a byte, or for a request where that is less, over the median OST's.",
        slow_ost_slowness_ratio="Of the slow OST that cost most, time for a byte (or request, if less) over the median OST's.",
        slow_ost_wait_ratio="Share of the run by which slow OSTs lengthened the I/O of the ranks that used them, on average.",
        ost_max_over_mean_ratio="Bytes of the OST that got most, over the mean of those in use; NULL for a log of one process.",
        busiest_ost_ratio="Share of the busiest OST in the bytes whose OST is known.",
        busiest_ost_seconds_ratio="Share of the run that ranks on average spent in requests to the OST that got most bytes.",
        phases_ratio="Share of the run that all phases last together.",
        longest_phase_ratio="Share of the time in phases that the longest one lasts.",
        period_confidence_ratio="How regularly phases come: 1 where all do after one period, 0 where none does.",
        spectrum_confidence_ratio="Correlation of the bytes moved with those one spectrum_period_seconds later.",
    ),
    **defined(
        Kind.SECONDS,
        phase_seconds="Time in phases.",
        longest_phase_seconds="Length of the longest phase.",
        period_seconds="Time from the start of a phase to that of the next, where phases come regularly.",
        spectrum_period_seconds="Time after which the bytes moved repeat themselves best; empty where they do not.",
    ),
}
