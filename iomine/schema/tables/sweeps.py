"""Tables about the sweeps themselves, and what the triggers said."""

from iomine.schema.table import Table

REJECT = Table(
    "reject",
    "An input that could not be read.",
    ("path", "sha256", "size_bytes", "file_state", "stage", "reason", "is_final", "reader_version", "at"),
    partitioned=False,
)
KNOWN_FILE = Table(
    "known_file",
    "A file whose log the lake has, as it was when it was read: sweeps do not open it while it is unchanged.",
    ("file_state", "log_id", "file_count"),
    grain=("cluster", "night", "file_state"),
)
SWEEP = Table(
    "sweep",
    "One run over the inputs; the last row says which versions of all tables belong together.",
    (
        *("sweep_id", "cluster", "paths", "start_at", "end_at", "found_count", "ingested_count", "known_count"),
        *("rejected_count", "statistics_found_count", "statistics_ingested_count", "statistics_known_count"),
        *("statistics_rejected_count", "reader_version", "table_versions"),
    ),
    partitioned=False,
    grain=("sweep_id",),
)
VERDICT = Table(
    "verdict",
    "What one trigger says of one log.",
    (
        *("log_id", "ruleset", "code", "level", "state", "value", "bar", "trigger_version", "evidence"),
        *("finding", "advice", "cost_core_seconds", "charged_core_seconds", "idle_core_seconds", "cause_code"),
        *("is_facility_cause", "reason"),
    ),
    grain=("log_id", "ruleset", "code"),
)
