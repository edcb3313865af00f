"""Two runs beside each other: what the I/O time of each was spent on, and the numbers of the earlier one."""

from iomine.schema.fields.kinds import Kind, Privacy, defined

PAIRS = {
    **defined(
        Kind.CORE_SECONDS,
        read_part_core_seconds="Part of io_core_seconds spent in reads.",
        write_part_core_seconds="Part of io_core_seconds spent in writes.",
        meta_part_core_seconds="Part of io_core_seconds spent in metadata calls.",
        waiting_part_core_seconds="Part of io_core_seconds spent in MPI-IO beyond the POSIX calls on the same file.",
        earlier_io_core_seconds="io_core_seconds of the earlier run.",
        earlier_read_part_core_seconds="read_part_core_seconds of the earlier run.",
        earlier_write_part_core_seconds="write_part_core_seconds of the earlier run.",
        earlier_meta_part_core_seconds="meta_part_core_seconds of the earlier run.",
        earlier_waiting_part_core_seconds="waiting_part_core_seconds of the earlier run.",
        earlier_cost_core_seconds="cost_core_seconds of the earlier run.",
    ),
    **defined(Kind.TEXT, Privacy.DIGEST, earlier_log_id="log_id of the earlier run."),
    **defined(
        Kind.TEXTS,
        Privacy.OPEN,
        new_codes="Codes of findings that the earlier run did not have, though its log could show them.",
        finding_codes="Codes of a run's findings.",
        possible_codes="Codes of a run's findings, and of triggers of which it is unknown whether they found something.",
        gone_codes="Codes of findings of the earlier run that this one does not have, though its log could show them.",
    ),
    **defined(Kind.TIME, earlier_start_at="start_at of the earlier run."),
    **defined(
        Kind.SECONDS,
        earlier_run_seconds="run_seconds of the earlier run.",
        earlier_slowest_rank_io_seconds="slowest_rank_io_seconds of the earlier run.",
    ),
    **defined(
        Kind.BYTES,
        earlier_read_bytes="read_bytes of the earlier run.",
        earlier_write_bytes="write_bytes of the earlier run.",
    ),
    **defined(
        Kind.COUNT,
        earlier_rank_count="nprocs of the earlier run.",
        earlier_read_count="read_count of the earlier run.",
        earlier_write_count="write_count of the earlier run.",
        earlier_open_count="open_count of the earlier run.",
        earlier_file_count="file_count of the earlier run.",
    ),
    **defined(Kind.NUMBER, earlier_osts_per_file="osts_per_file of the earlier run."),
}
