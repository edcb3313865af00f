"""What logs say of themselves, and sweeps of logs."""

from iomine.schema.fields.kinds import Kind, Privacy, defined

LOGS = {
    **defined(
        Kind.TEXT,
        Privacy.OPEN,
        cluster="Name of the machine that the log came from, as given to the sweep.",
        format_version="Version of the log file format; of a trace, what wrote it.",
        source_format="What a row came from: darshan with the version of its format, dftracer or recorder.",
        derivation="What failed: the table whose rows it would have made, or `verdict` where the log could not be judged.",
        module="Name of a Darshan module.",
        doubt_check=(
            "What a number in doubt was compared with: order, clock, future, length, processes (all of the header), negative, "
            "set back (a time below 0), not finite, too fine, too many, run, ranks, sizes, trace."
        ),
        state="State: of a module read, unsound, unsupported or unread; of a verdict fired, clear, not applicable or unknown.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.TERM,
        darshan_version="Version of the Darshan library that wrote the log.",
        fs_type="Type of the file system mounted there.",
        key="Name of a metadata entry or hint.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.NAME,
        user="Login name, from the log's file name where it follows Darshan's pattern, otherwise empty.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.WORD,
        pool="UUID of the DAOS pool, in hex.",
        container="UUID of the DAOS container, in hex.",
        pool_name="Name of the OST pool, NULL without one.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.PATH,
        app="Program name: the last part of the executable's path, without arguments.",
        application=(
            "What was run: the program behind launchers and containers, of an interpreter its script or module; without path, "
            "version, date and hash."
        ),
        path="Path of the file, as the program or the sweep named it; an ellipsis stands for what a log did not keep of it.",
        mount="Mount point: the longest that is a prefix of the path, or that of the file's device where its log has that.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.COMMAND,
        exe="Command line of the program, as Darshan kept it (cut at about 3 KB by Darshan).",
    ),
    **defined(
        Kind.TEXT,
        Privacy.HINTS,
        entry="Value of a metadata entry or hint.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.JOB,
        job_id="The scheduler's job id, as text; one job may hold many logs.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.SENTENCE,
        doubt="What of the log's header or counters is not to be trusted, and counts as unknown; NULL where all is sound.",
        error="What went wrong, in the words of the program.",
        reason="Why, in a sentence that a person understands.",
        trace_doubt="What of the request's trace makes no sense, or was cut; NULL where the trace is sound.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.DIGEST,
        log_id="First 16 hex digits of the SHA-256 of the log file's bytes.",
        lineage_id="Id shared by runs of one user's application at one scale that move data in the same ways.",
    ),
    **defined(
        Kind.LABEL,
        Privacy.OPEN,
        layer="Layer of the I/O stack: posix, mpiio, stdio; dfs and daos, hdf5 and pnetcdf where Darshan watches these.",
        op="Direction of a request: read or write.",
        special_kind="What a special file is: stream (standard input, output), device, kernel (/proc, /sys), pipe or socket.",
        io_signature="Ways in which a program asked to move at least a MiB: reads, writes, reads and writes, or little.",
    ),
    **defined(
        Kind.LABEL,
        Privacy.NAME,
        host="Name of the compute node.",
    ),
    **defined(
        Kind.ID,
        Privacy.NUMBER,
        uid="Numeric user id.",
        owner_uid="Uid that owns the log's file; of a log in an archive, as the archive says.",
        archive_uid="Uid that owns the archive which the log lies in, NULL where it lies in none.",
        name_uid="Uid of the user in the log's file name, where the host that read it knows one.",
        thread_id="Id of the thread that issued the request, where the trace carries one.",
        oid_hi="High half of the DAOS object id, its bits read as a signed number.",
        oid_lo="Low half of the DAOS object id, its bits read as a signed number.",
    ),
    **defined(
        Kind.ID,
        Privacy.FILE_ID,
        file_id="Darshan's record id of the file or object: a 64-bit hash, its bits read as a signed number.",
        parent_file_id="Record id of the file that holds the dataset or variable, as file_id.",
    ),
    **defined(
        Kind.DATE,
        night="UTC date on which the log ended; the partition key of the lake.",
        first_night="First night with a log.",
        last_night="Last night with a log.",
    ),
    **defined(
        Kind.TIME,
        start_at="Start of the run.",
        end_at="End of the run.",
        at="Time of the event.",
    ),
    **defined(
        Kind.INTEGER,
        rank="MPI rank; -1 is Darshan's shared record, which sums or reduces over all ranks.",
        nprocs="Number of processes of the run.",
        module_version="Version of the module's record layout.",
        component="Index of the layout component of the file, from 0.",
    ),
    **defined(
        Kind.FLAG,
        is_partial="True where Darshan ran out of memory for records, so that some are missing.",
        is_path_cut="True where only the end of the path was kept, behind an ellipsis, as by formats before 3.00.",
        is_shared="True where all ranks share one record of the file; of a whole file, where more than one rank touched it.",
        is_beneath_mpiio="True where the file goes through MPI-IO, so that POSIX does what MPI-IO asks.",
        is_overlapping="True where I/O time exceeded the run, as calls of several threads overlap, and was cut to it.",
        is_complete="True where nothing that the answer needs is missing from the log.",
        is_owner_confirmed=(
            "True where the owner of the file is whom the log names; false where file, record, file name and accounting name "
            "several users; NULL where nothing is known, as for files that a collector owns."
        ),
    ),
    **defined(
        Kind.SECONDS,
        run_seconds="Length of the run, from start to end.",
        slowest_rank_io_seconds=(
            "Time that the slowest rank spent in the layers that were called, at most the run; empty where it is not known."
        ),
        start_seconds="Start, in seconds since the start of the run.",
        end_seconds="End, in seconds since the start of the run.",
        bin_seconds="Width of a time bin.",
    ),
    **defined(
        Kind.INDICES,
        read_bin_numbers="Time bins in which the rank read, from 0, in ascending order; all other bins have no bytes.",
        write_bin_numbers="Time bins in which the rank wrote, from 0, in ascending order; all other bins have no bytes.",
    ),
    **defined(
        Kind.INTEGERS,
        ost_ids="Indices of the OSTs that the component is striped over, in stripe order.",
        read_bin_amounts="Bytes read in each of the bins that `read_bin_numbers` names.",
        write_bin_amounts="Bytes written in each of the bins that `write_bin_numbers` names.",
        server_histogram="Requests by MDHIM server.",
    ),
    **defined(
        Kind.CORE_SECONDS,
        io_core_seconds=(
            "Time that ranks spent in the I/O layer that was called, summed over ranks and at most the run: MPI-IO for files "
            "opened through it, POSIX for other files, STDIO and DFS; in a view of one module, of that module alone."
        ),
        storage_core_seconds="Time that ranks spent in POSIX, STDIO and DFS, called or beneath MPI-IO, summed over ranks.",
        waiting_core_seconds=(
            "Time that ranks spent in MPI-IO beyond the POSIX calls on the same file, summed over ranks: waiting for each other "
            "and exchanging data; part of io_core_seconds."
        ),
        special_core_seconds=(
            "Time that ranks spent in special files, summed over ranks: pipes, sockets, devices, standard streams; no part of "
            "io_core_seconds."
        ),
        run_core_seconds="Length of the run times its processes.",
        idle_core_seconds=(
            "Time in which other ranks stood idle while one rank did the I/O of a finding, summed over them: at least so much, "
            "and no part of any I/O time."
        ),
        cost_core_seconds=(
            "Time that ranks spent in the requests that a finding is about, summed over ranks; "
            "where findings are added up, of each log at most its I/O time. Causes that the facility has to fix count too."
        ),
    ),
    **defined(
        Kind.BYTES,
        size_bytes="Size of the file on disk.",
        region_bytes="Compressed size of the module's region in the log.",
        offset_bytes="Where in the file the request starts.",
        length_bytes="Length of the request.",
    ),
    **defined(
        Kind.NUMBER,
        doubted_value="The number in doubt that is furthest off, in the unit of its column; NULL where it is not a number.",
        doubt_limit="The largest possible value, or the smallest if the number is too small; NULL where that is not one number.",
    ),
    **defined(
        Kind.COUNT,
        record_count="Number of records.",
        log_count="Number of logs.",
        file_count="Number of files.",
        rank_count="Number of ranks that touched the file: of a shared record all of the run.",
        finding_count="Number of findings.",
        bin_count="Number of time bins.",
        fs_ost_count="OSTs of the whole file system, where the log says so (Lustre records of version 1).",
        doubted_record_count="Records of the table with a number in doubt.",
        fs_mdt_count="MDTs of the whole file system, where the log says so (Lustre records of version 1).",
    ),
}

SWEEPS = {
    **defined(
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
    **defined(
        Kind.TEXT,
        Privacy.DIGEST,
        sha256="SHA-256 of the file's bytes in hex, NULL where they could not be read.",
    ),
    **defined(
        Kind.ID,
        Privacy.NUMBER,
        file_state="Digest of the file's path, size, times of change and inode: its bytes are the same as long as it is.",
    ),
    **defined(
        Kind.TEXTS,
        Privacy.PATH,
        paths="Paths that the sweep was given.",
    ),
    **defined(
        Kind.FLAG,
        is_final="True where the bytes themselves are at fault, so reading them again is of no use.",
    ),
    **defined(
        Kind.COUNT,
        found_count="Candidates for logs that were found.",
        ingested_count="Logs read and committed.",
        known_count="Candidates whose bytes were in the lake already.",
        rejected_count="Candidates that could not be read.",
        statistics_found_count="Readings of servers and accounting that were found, each one in an archive counted.",
        statistics_ingested_count="Readings that were read and committed.",
        statistics_known_count="Readings whose bytes were in the lake already, of the same moment.",
        statistics_rejected_count="Readings that could not be read.",
    ),
}

METADATA = {
    **defined(
        Kind.COUNT,
        meta_call_count="Opens, stats and renames of POSIX and opens of STDIO.",
        looping_call_count=(
            "Opens and stats of one file by a rank that made a hundred or more, on average; NULL where these are not half of "
            "all, or where another file took more time in metadata calls."
        ),
    ),
    **defined(
        Kind.RATIO,
        meta_call_ratio="Share of metadata calls among metadata calls, reads and writes.",
    ),
    **defined(
        Kind.COUNT_RATE,
        meta_calls_per_second="Metadata calls for each second from the first open to the last close.",
    ),
    **defined(Kind.TEXT, Privacy.PATH, longest_meta_path="File whose metadata calls took most time."),
}
