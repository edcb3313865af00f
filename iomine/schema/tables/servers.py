"""Tables of what the servers of a file system say of themselves, as it was read, and of what follows from that."""

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
    ("sampled_at", "target", "target_kind", "mount", "capacity_bytes", "used_bytes", "free_bytes"),
)
SOURCE_FILE = Table(
    "source_file",
    "An input other than a Darshan log that was read.",
    (
        *("path", "sha256", "target", "owner", "sampled_at", "cluster", "source_kind", "size_bytes", "row_count"),
        *("first_at", "last_at", "doubt", "reader_version", "at"),
    ),
    partitioned=False,
)
SERVER_INTERVAL = Table(
    "server_interval",
    "What a target did between two readings, for all or for a job or client.",
    (
        *("begin_at", "interval_seconds", "source_kind", "target", "target_kind", "scope", "owner", "operation"),
        *("rpc_count", "moved_bytes", "service_seconds", "quality"),
    ),
)
SERVER_SLOT = Table(
    "server_slot",
    "What a job had a target do in ten minutes, and how long that usually takes.",
    (
        *("begin_at", "target", "target_kind", "owner", "job_id", "user"),
        *("rpc_count", "moved_bytes", "service_seconds", "usual_service_seconds"),
    ),
)
TRAFFIC_SLOT = Table(
    "traffic_slot",
    "What was moved on an OST, or a whole file system, in ten minutes: by all, as servers count, and by a log, as Darshan does.",
    ("begin_at", "filesystem", "ost_id", "owner", "user", "moved_bytes", "covered_seconds"),
)
RUN_SHAPE = Table(
    "run_shape",
    "What a run did: how much, in how many requests, on how many ranks, files and OSTs; and how long its I/O took.",
    (
        *("log_id", "job_id", "lineage_id", "nprocs", "io_core_seconds", "read_bytes", "write_bytes", "read_count"),
        *("write_count", "open_count", "read_seconds", "write_seconds", "meta_seconds", "file_count", "osts_per_file"),
    ),
    grain=("log_id",),
)
RUN_USUAL = Table(
    "run_usual",
    "How long one log's I/O took, compared with runs of its lineage in nights before, and how it differed from them.",
    ("log_id", "lineage_run_count", "alike_run_count", "run_slowdown_ratio", "did_more_ratio", "differences"),
    grain=("log_id",),
)
WEATHER = Table(
    "weather",
    "How the targets of one kind dealt with what a log, or a phase of it, asked of them, and who else kept them busy.",
    (
        *("log_id", "layer", "phase", "target_kind", "evidence", "target_count", "rpc_count", "service_seconds"),
        *("usual_service_seconds", "server_slowdown_ratio", "own_ratio", "neighbour", "neighbour_job_id", "neighbour_ratio"),
        *("load_percentile", "load_over_mean_ratio", "own_bytes_ratio", "fullest_ratio"),
    ),
)
