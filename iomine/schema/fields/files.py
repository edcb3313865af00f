"""Files: how ranks use them, and how many bytes lie where."""

from iomine.schema.fields.kinds import Kind, Privacy, defined

FILES = {
    **defined(
        Kind.COUNT,
        own_file_count="Files with data that one rank alone touched.",
        small_file_count="Files with data of which less than 1 MiB was touched.",
        overstriped_file_count="Files on Lustre that are striped over more OSTs than they have whole stripes.",
    ),
    **defined(
        Kind.RATIO,
        own_files_per_rank_ratio="Files with data that one rank alone touched, over ranks.",
        small_file_ratio="Share of small files among files with data.",
        overstriped_file_ratio="Share of overstriped files among files on Lustre.",
        data_stdio_ratio="Share of the bytes moved that went through stdio, standard streams left out.",
        ranks_per_ost_ratio="Of the largest shared file on Lustre: ranks of the run for each OST that it is striped over.",
    ),
    **defined(
        Kind.BYTES,
        single_ost_bytes="Bytes moved of the largest file that several ranks share and that lies on one OST.",
        striped_shared_bytes="Bytes moved of the largest file on Lustre that several ranks share.",
    ),
    **defined(Kind.COUNT, striped_shared_stripe_count="OSTs over which the largest shared file on Lustre is striped."),
    **defined(
        Kind.NUMBER,
        io_seconds_per_mib="Core-seconds of I/O for each MiB moved.",
    ),
    **defined(
        Kind.CORE_SECONDS,
        own_file_core_seconds="Time that ranks spent on files that one rank alone touched, metadata calls included.",
        small_file_core_seconds="Time that ranks spent on small files, metadata calls included.",
        stdio_core_seconds="Time that ranks spent in stdio, standard streams left out.",
        single_ost_core_seconds="Time that ranks spent in reads and writes of the largest shared file that lies on one OST.",
        striped_shared_core_seconds="Time that ranks spent in reads and writes of the largest shared file on Lustre.",
        overstriped_core_seconds="Time that ranks spent on overstriped files, metadata calls included.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.PATH,
        single_ost_path="The largest file that several ranks share and that lies on one OST.",
        striped_shared_path="The largest file on Lustre that several ranks share.",
        stdio_path="File with most bytes moved through stdio.",
    ),
}

BOUNDS = {
    **defined(Kind.SECONDS, mean_seconds="I/O time, averaged over all ranks of the run."),
    **defined(Kind.BYTES, mean_bytes="Bytes moved, averaged over all ranks of the run."),
}
