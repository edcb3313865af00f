"""Roll-ups: sums of a night that stay when its logs leave, and the ids by which those logs are still known.

A row is a part of a sum: late logs add rows, so queries add them up.
"""

from iomine.schema.table import Table

APP_NIGHT = Table(
    "app_night",
    "What a user's program did in a night under an account, and what its findings cost.",
    (
        *("user", "uid", "app", "account", "log_count", "finding_log_count", "finding_count", "cost_core_seconds"),
        *("facility_cost_core_seconds", "io_core_seconds", "run_core_seconds", "timed_core_seconds", "read_bytes", "write_bytes"),
        "doubtful_log_count",
    ),
)
FINDING_NIGHT = Table(
    "finding_night",
    "How often a trigger found something in a user's program in a night, what that cost, and the facility's part of it.",
    (
        *("user", "uid", "app", "code", "level", "finding_count", "cost_core_seconds", "charged_core_seconds"),
        *("facility_finding_count", "facility_cost_core_seconds", "facility_charged_core_seconds"),
    ),
)
MOUNT_NIGHT = Table(
    "mount_night",
    "What a user's program did on a mounted file system in a night; a file counts once for each log that touched it.",
    (
        *("user", "uid", "app", "mount", "fs_type", "log_count", "file_count", "written_file_count"),
        *("small_written_file_count", "read_bytes", "write_bytes", "io_core_seconds", "meta_core_seconds"),
        "small_written_core_seconds",
    ),
)
LAYER_NIGHT = Table(
    "layer_night",
    "What a user's program did in a layer of the I/O stack in a night.",
    (
        *("user", "uid", "app", "layer", "log_count", "file_count", "read_bytes", "write_bytes", "read_count", "write_count"),
        *("read_core_seconds", "write_core_seconds", "meta_core_seconds"),
    ),
)
KNOWN_LOG = Table(
    "known_log", "A log whose rows have left, by which it is still known.", ("log_id",), grain=("cluster", "night", "log_id")
)
