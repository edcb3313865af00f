"""What benchmarks measured."""

from iomine.schema.table import Table

IOR_RUN = Table(
    "ior_run",
    "One repetition of writes or reads of a test of IOR. bytes_per_second is over elapsed_seconds, as IOR has it.",
    (
        *("start_at", "system", "host", "output_path", "ior_version", "test", "api", "nprocs", "node_count", "ior_block_bytes"),
        *("ior_transfer_bytes", "ior_segment_count", "is_shared", "is_collective", "hints", "test_path", "op", "repetition"),
        *("moved_bytes", "bytes_per_second", "open_seconds", "data_seconds", "close_seconds", "elapsed_seconds"),
    ),
    for_people=True,
)
