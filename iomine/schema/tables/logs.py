"""Tables about whole logs."""

from iomine.schema.table import Table

LOG = Table(
    "log",
    "One log, or one traced run: one launch of one program.",
    (
        *("log_id", "job_id", "uid", "user", "exe", "app", "application", "nprocs", "start_at", "end_at", "run_seconds"),
        *("format_version", "darshan_version", "is_partial", "doubt", "read_bytes", "write_bytes", "read_count"),
        *("write_count", "io_core_seconds", "storage_core_seconds", "waiting_core_seconds", "special_core_seconds"),
        *("slowest_rank", "slowest_rank_io_seconds", "is_overlapping", "io_signature", "lineage_id", "path", "size_bytes"),
        *("owner_uid", "archive_uid", "name_uid"),
    ),
    grain=("log_id",),
)
OWNER_DOUBT = Table(
    "owner_doubt",
    "A log whose file, record, file name and accounting name several users, and what they say.",
    ("log_id", "reason"),
    grain=("cluster", "night", "log_id"),
    for_people=True,
)
MODULE = Table(
    "module",
    "One module of a log, and whether its records could be read.",
    ("log_id", "module", "module_version", "region_bytes", "record_count", "is_partial", "state", "reason"),
    grain=("log_id", "module"),
)
FILE_NAME = Table(
    "file_name",
    "The name behind a record id in one log, with the mount that it lies on.",
    ("log_id", "file_id", "path", "is_path_cut", "mount", "fs_type"),
    grain=("log_id", "file_id"),
)
MOUNT = Table(
    "mount", "A file system that was mounted when the log was written.", ("log_id", "mount", "fs_type"), grain=("log_id", "mount")
)
METADATA = Table(
    "metadata", "A metadata entry of a log, MPI-IO hints among them.", ("log_id", "key", "entry"), grain=("log_id", "key")
)
SPECIAL_FILE = Table(
    "special_file",
    "What a log opened that is not a file on storage: a standard stream, device, pipe or socket, or a file of the kernel.",
    ("log_id", "file_id", "special_kind", "evidence"),
    grain=("log_id", "file_id"),
)
DATA_QUALITY = Table(
    "data_quality",
    "A column of a log's records, or of its header, that holds impossible numbers; these are NULL in all views.",
    (
        *("log_id", "module", "table_name", "column_name", "doubt_check", "doubted_value", "doubt_limit"),
        "doubted_record_count",
    ),
    for_people=True,
)
