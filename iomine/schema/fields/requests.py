"""Requests: how many, how large, where in files, and which are useless."""

from iomine.schema.fields.kinds import Kind, Privacy, defined

REQUESTS = {
    **defined(
        Kind.BYTES,
        small_read_bytes="Reads of fewer bytes are small; a setting.",
        small_write_bytes="Writes of fewer bytes are small; a setting.",
        asked_bytes="Bytes that the program asked to move: through MPI-IO where a file goes through it, otherwise through POSIX.",
        again_bytes="Bytes that were moved again: bytes asked for, less bytes touched at least once.",
        sync_interval_bytes="Bytes written for each sync, of files with 16 MiB or less for each.",
        reread_bytes="Bytes that were read again: by the same rank where a trace shows it, otherwise by any.",
        rewritten_bytes="Bytes that were written again: by the same rank where a trace shows it, otherwise by any.",
    ),
    **defined(
        Kind.COUNT,
        backward_read_count="Reads that start before the end of the rank's last read of the file.",
        backward_write_count="Writes that start before the end of the rank's last write to the file.",
        small_count="Requests below the size that counts as small.",
        synced_write_count="Writes to files that were synced.",
        misaligned_count="Requests of programs' own POSIX calls that start off the file system's blocks.",
        mpiio_misaligned_count="POSIX requests beneath MPI-IO that start off the file system's blocks.",
    ),
    **defined(
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
        sync_ratio="Share of syncs among writes and syncs, of files with 16 MiB or less for each sync; 0 without syncs.",
        sync_seconds_ratio="Share of the time in reads, writes and syncs that syncs after 16 MiB or less took.",
    ),
    **defined(Kind.FLAG, is_frequent="True where 16 MiB or less were written for each sync."),
    **defined(Kind.SECONDS, synced_seconds="Time in syncs, summed over ranks; Darshan adds it to that of writes."),
    **defined(
        Kind.CORE_SECONDS,
        small_read_core_seconds="Time that ranks spent in small reads: of each file, in proportion to their number.",
        small_write_core_seconds="Time that ranks spent in small writes: of each file, in proportion to their number.",
        backward_read_core_seconds="Time that ranks spent in reads going backwards, in proportion to their number.",
        backward_write_core_seconds="Time that ranks spent in writes going backwards, in proportion to their number.",
        misaligned_core_seconds="Time that ranks spent in misaligned requests of their own: of each file, in proportion.",
        mpiio_misaligned_core_seconds="Time that ranks spent in misaligned requests beneath MPI-IO: of each file, in proportion.",
        reread_core_seconds="Time that ranks spent in reading again: of each file, in proportion to the bytes.",
        rewritten_core_seconds="Time that ranks spent in writing again: of each file, in proportion to the bytes.",
        sync_core_seconds="Time that ranks spent in syncs after 16 MiB or less: fsync, fdatasync, fflush and MPI_File_sync.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.OPEN,
        sync_evidence="What most time in syncs is known from: trace (less the writes in it), or count (in proportion).",
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
    **defined(
        Kind.TEXT,
        Privacy.PATH,
        small_read_path="File in which small reads took most time.",
        small_write_path="File in which small writes took most time.",
        misaligned_path="File in which misaligned requests took most time.",
        reread_path="File of which most bytes were read again.",
        rewritten_path="File of which most bytes were written again.",
        sync_path="File in which syncs took most time.",
    ),
}

COLLECTIVES = {
    **defined(
        Kind.RATIO,
        indep_read_ratio="Share of independent reads among independent, collective and split ones, of runs with several ranks.",
        indep_write_ratio="Share of independent writes among independent, collective and split ones, of runs with several ranks.",
        indep_read_seconds_ratio="Share of the MPI-IO time that independent reads took.",
        indep_write_seconds_ratio="Share of the MPI-IO time that independent writes took.",
        blocking_ratio="Share of MPI-IO requests that block, among all of them.",
        read_amplification_ratio="Bytes read beneath MPI-IO over bytes read through MPI-IO.",
        write_amplification_ratio="Bytes written beneath MPI-IO over bytes written through MPI-IO.",
    ),
    **defined(
        Kind.COUNT,
        indep_read_requests_count="Independent reads of files that several ranks read through MPI-IO.",
        indep_write_requests_count="Independent writes to files that several ranks wrote through MPI-IO.",
    ),
    **defined(
        Kind.CORE_SECONDS,
        indep_read_core_seconds="Time that ranks spent in independent reads, in proportion to their number.",
        indep_write_core_seconds="Time that ranks spent in independent writes, in proportion to their number.",
        blocking_core_seconds="Time that ranks spent in MPI-IO requests that block.",
        read_amplification_core_seconds="Time that ranks spent in reading beneath MPI-IO what nobody asked for.",
        write_amplification_core_seconds="Time that ranks spent in writing beneath MPI-IO what nobody asked for.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.PATH,
        indep_read_path="File with most independent reads.",
        indep_write_path="File with most independent writes.",
    ),
}

DRISHTI = {
    **defined(
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
            "Bytes by which slowest and fastest rank differ, over bytes of all ranks; of the shared record where it is highest."
        ),
        shared_seconds_spread_ratio=(
            "I/O time by which slowest and fastest rank differ, over that of all ranks; of the shared record where it is highest."
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
    **defined(
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
    **defined(
        Kind.BYTES,
        read_offset_lead_bytes="Highest offset read in any file, less the bytes read of all files.",
        write_offset_lead_bytes="Highest offset written in any file, less the bytes written to all files.",
        stdio_bytes="Bytes read and written through stdio.",
    ),
    **defined(
        Kind.SECONDS,
        longest_meta_seconds="Metadata time of the record that has the most; a shared record has the sum over ranks.",
    ),
    **defined(
        Kind.INTEGER,
        no_mpiio="1 where the log has no MPI-IO module, 0 where it has one.",
        node_evidence="What the number of nodes is known from: 2 the scheduler's accounting, 1 the hosts that the log names.",
        aggregators_differ="1 where the hint cb_nodes is not the number of nodes, 0 where it is.",
        aggregator_order=(
            "Where the hint cb_nodes sorts against the number of nodes, both taken as text: -1 before it, 0 equal, 1 after it."
        ),
    ),
    **defined(
        Kind.LABEL,
        Privacy.OPEN,
        call_kind="What was called, in its layer's words: open, stat, seek, collective write, and so on.",
    ),
}
