"""Tables of what the servers of a file system say of themselves: rows as they were read, nothing worked out yet."""

from iomine.schema.table import Table

_SAMPLE = ("sampled_at", "source_kind", "target", "target_kind", "scope", "owner")

LUSTRE_COUNTER = Table(
    "lustre_counter",
    "A counter of a target, for all or for a job or client, at the time of reading; it grows until the server starts it again.",
    (
        *_SAMPLE,
        *("counter", "counter_unit", "sample_count", "amount", "least_amount", "most_amount", "squares_amount"),
        *("counted_since_at", "last_io_at"),
    ),
)
LUSTRE_HISTOGRAM = Table(
    "lustre_histogram",
    "A bucket of a histogram of a target, for all or for a job or client, at the time of reading.",
    (*_SAMPLE, "histogram", "bucket", "counter_unit", "read_count", "write_count"),
)
LUSTRE_RATE = Table(
    "lustre_rate",
    "A rate of a target over an interval, where the input has rates and no counters.",
    ("begin_at", "interval_seconds", "source_kind", "target", "target_kind", "counter", "counter_unit", "rate"),
)
TARGET_FULLNESS = Table(
    "target_fullness",
    "How full a target was.",
    ("sampled_at", "target", "target_kind", "mount", "total_bytes", "used_bytes", "free_bytes"),
)
SOURCE_FILE = Table(
    "source_file",
    "An input other than a Darshan log that was read.",
    (
        *("path", "sha256", "cluster", "source_kind", "size_bytes", "row_count", "first_at", "last_at"),
        *("doubt", "reader_version", "at"),
    ),
    partitioned=False,
)
