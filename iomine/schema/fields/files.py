"""Files: how ranks use them, and how many bytes lie where."""

from iomine.schema.fields.kinds import Kind, Privacy, defined

FILES = {
    **defined(
        Kind.COUNT,
        own_file_count="Files with data that one rank alone touched.",
        small_file_count="Files with data of which less than small_file_bytes were touched.",
        slow_file_count="Files whose requests took so much longer than those of similar files that chance does not explain it.",
        like_file_count="Files like the slowest one: of the same directory, size and access, itself included.",
        overstriped_file_count="Files on Lustre that are striped over more OSTs than they have whole stripes.",
    ),
    **defined(Kind.FLAG, is_slow_file="True where the requests took far longer than those of similar files."),
    **defined(Kind.SECONDS, excess_seconds="Time in requests beyond what the median of similar files takes for the same bytes."),
    **defined(
        Kind.RATIO,
        slowdown_ratio="Time for a request (or for a byte, if less), over that of the median of similar files.",
        own_files_per_rank_ratio="Files with data that one rank alone touched, over ranks.",
        small_file_ratio="Share of small files among files with data.",
        overstriped_file_ratio="Share of overstriped files among files on Lustre.",
        data_stdio_ratio="Share of the bytes moved that went through stdio, standard streams left out.",
        slow_file_slowdown_ratio="Time for a request (or a byte, if less) of the slowest file, over the median of similar files.",
        slow_file_wait_ratio="Share of the run by which a rank needed longer for such a file than for the median similar file.",
        ranks_per_ost_ratio="Ranks of the run for each OST that the largest shared file on Lustre is striped over.",
    ),
    **defined(
        Kind.BYTES,
        small_file_bytes="Files of which fewer bytes were touched are small; a setting.",
        single_ost_bytes="Bytes moved of the largest file that four ranks or more share and that lies on one OST.",
        striped_shared_bytes="Bytes moved of the largest file on Lustre that several ranks share.",
    ),
    **defined(
        Kind.COUNT,
        striped_shared_stripe_count="OSTs over which the largest shared file on Lustre is striped.",
        single_ost_rank_count="Ranks that share the large file on one OST, if there is one; NULL if there are several.",
        single_ost_file_count=(
            "Files that several ranks share, that lie on one OST, and that have a tenth of the largest one's bytes or more."
        ),
        striped_shared_file_count=(
            "Shared files on Lustre over no more OSTs than the largest one, and with a tenth of its bytes or more."
        ),
    ),
    **defined(
        Kind.CORE_SECONDS_PER_MIB,
        io_seconds_per_mib="Core-seconds of I/O for each MiB moved.",
    ),
    **defined(
        Kind.CORE_SECONDS,
        own_file_core_seconds="Time that ranks spent in metadata calls on files that one rank alone touched.",
        small_file_core_seconds="Time that ranks spent on small files, metadata calls included.",
        slow_file_core_seconds="Time in requests of slow files beyond what similar files would have taken for the same bytes.",
        stdio_core_seconds="Time that ranks spent in stdio, standard streams left out.",
        single_ost_core_seconds=(
            "Time that ranks spent in reads and writes of large shared files that lie on one OST each, and waited for these in "
            "collective calls."
        ),
        striped_shared_core_seconds=(
            "Time that ranks spent in reads and writes of large shared files on few OSTs, and waited for these in collective "
            "calls."
        ),
        overstriped_core_seconds="Time that ranks spent on overstriped files, metadata calls included.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.PATH,
        single_ost_path="The largest file that four ranks or more share and that lies on one OST.",
        striped_shared_path="The largest file on Lustre that several ranks share.",
        slow_file_path="File that is furthest out of line with similar files.",
        stdio_path="File with most bytes moved through stdio.",
    ),
}

TIMES = {
    **defined(
        Kind.LABEL,
        Privacy.OPEN,
        time_kind=(
            "What time went into: read, write, meta (metadata calls), and in MPI-IO held (waiting for those that move the data "
            "of all) or waiting (other waiting, or exchange)."
        ),
    ),
    **defined(
        Kind.SECONDS,
        kind_seconds="Time of that kind that ranks spent on the file; that of all files adds up to the log's I/O time.",
        small_seconds="Part of the requests' time that goes to small ones, by their number.",
        backward_seconds="Part of the requests' time that goes to those that go backwards, by their number.",
        misaligned_seconds="Part of the requests' time that goes to misaligned ones, by their number.",
        again_seconds="Part of the requests' time that goes to bytes that were moved before.",
        ranks_seconds="Part of the requests' time that goes to bytes that another rank moved before.",
        shared_stripe_seconds="Part of the requests' time that goes to stripes that several ranks wrote.",
        straddle_seconds="Part of the requests' time that goes to those that cross a stripe's edge, by their number.",
        amplification_seconds="Part of the requests' time that goes to bytes that MPI-IO was not asked for.",
        indep_read_seconds="Time in independent reads of MPI-IO, by their share of the reads.",
        indep_write_seconds="Time in independent writes of MPI-IO, by their share of the writes.",
        stayed_seconds="Time in collective calls of MPI-IO whose requests stayed as small as they were, by their number.",
        sieve_seconds="Time in reads that MPI-IO made in order to write.",
        call_seconds="Time in MPI-IO requests of one direction.",
    ),
    **defined(
        Kind.COUNT,
        shared_collective_count="Collective requests of one direction on a file that several ranks use.",
        stayed_count="Collective requests that came out of MPI-IO as they were, where these are smaller than 1 MiB.",
    ),
    **defined(Kind.BYTES, ranks_bytes="Bytes that another rank had moved before."),
    **defined(
        Kind.FLAG,
        is_own="True where one rank alone touched the file.",
        is_small="True where less than 1 MiB of the file was touched, empty where that is not known.",
        is_on_one_ost="True where several ranks share the file, it lies on one OST, and it is among the largest such files.",
        is_on_few_osts="True where several ranks share the file, and it is among the largest such files on no more OSTs.",
        is_overstriped="True where the file is striped over more OSTs than it has whole stripes.",
        is_of_ranks="True where the requests are those that ranks asked for, unchanged by MPI-IO.",
        fits_stripe="True where requests are on average no longer than a stripe.",
        has_many_ranks="True where several ranks use the file through MPI-IO.",
    ),
}

BOUNDS = {
    **defined(Kind.SECONDS, mean_seconds="I/O time, averaged over all ranks of the run."),
    **defined(Kind.BYTES, mean_bytes="Bytes moved, averaged over all ranks of the run."),
}

CREATES = {
    **defined(
        Kind.COUNT,
        created_file_count="Files that the run opened and wrote, each once, whatever ranks and layers did so.",
        undated_create_count="Files that the run wrote and whose first open has no known time.",
        create_count="Files that were opened first in this second, and written in the run.",
        peak_create_count="Files written, and opened first within the busiest second, which may begin at any hundredth of one.",
        directory_count="Directories in which files were created, as far as their names are known.",
        fullest_directory_create_count="Files created in the directory that got most.",
        borne_create_count="Files that the file system can create in a second without harm; a setting.",
    ),
    **defined(Kind.COUNT_RATE, burst_creates_per_second="Files created for each second of the ten seconds with most."),
    **defined(
        Kind.RATIO,
        files_per_directory_ratio="Created files over the directories that they lie in.",
        peak_create_ratio="Files created within the busiest second, over those that the file system can create.",
    ),
    **defined(
        Kind.SECONDS,
        peak_start_seconds="When the busiest second of creates began, in seconds since the start of the run.",
        burst_start_seconds="When the ten seconds with most creates began, in seconds since the start of the run.",
    ),
    **defined(
        Kind.TIME,
        peak_at="When the busiest second of creates began.",
        create_at="Whole second in which files were opened first.",
    ),
    **defined(
        Kind.CORE_SECONDS,
        create_core_seconds="Time in metadata calls on files created in the ten busiest seconds of each mount.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.PATH,
        directory="Directory that a file lies in, with a slash at its end; NULL where only its name is known.",
        peak_mount="Mount on which most files were created within a second.",
    ),
    **defined(Kind.TEXTS, Privacy.JOB, job_ids="Jobs that created these files, those that created most first."),
}
