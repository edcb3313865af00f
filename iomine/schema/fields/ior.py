"""What IOR measured."""

from iomine.schema.fields.kinds import Kind, Privacy, defined

IOR = {
    **defined(
        Kind.TEXT,
        Privacy.NAME,
        system="What was measured: the folder `system=NAME` that the output lies in, or the sweep's cluster where there is none.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.PATH,
        output_path="IOR's output, as the sweep found it.",
        test_path="File that IOR wrote or read, without what it adds for each process.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.HINTS,
        hints="MPI-IO hints, as `name=value;name=value`: of the opened file, or those asked for; NULL where IOR shows none.",
    ),
    **defined(
        Kind.LABEL,
        Privacy.TERM,
        api="Interface that IOR used: POSIX, MPIIO, HDF5, NCMPI, and so on.",
        ior_version="Version of IOR.",
    ),
    **defined(
        Kind.INTEGER,
        test="Which test of an IOR output it is, from 0.",
        repetition="Which repetition of a test it is, from 0.",
    ),
    **defined(
        Kind.BYTES,
        ior_block_bytes="Block of IOR (`-b`): bytes that a process moves one after the other.",
        ior_transfer_bytes="Transfer of IOR (`-t`): bytes of each request.",
    ),
    **defined(Kind.COUNT, ior_segment_count="Segments of IOR (`-s`): how often the blocks of all processes follow each other."),
    **defined(
        Kind.SECONDS,
        open_seconds="Time in opening: from the first process's start to the last one's end, like the two below.",
        data_seconds="Time in reads or writes, with the sync at the end where one was asked for.",
        close_seconds="Time in closing.",
        elapsed_seconds="Time from the first process's open to the last one's close.",
    ),
}
