"""Tables of what the scheduler says of jobs."""

from iomine.schema.table import Table

JOB = Table(
    "job",
    "A job as the scheduler accounts for it; one that has not ended yet may come again.",
    (
        *("job_id", "shown_job_id", "scheduler", "job_name", "user", "uid", "account", "partition", "qos", "job_state"),
        *("exit_code", "submit_at", "start_at", "end_at", "run_seconds", "limit_seconds"),
        *("node_count", "core_count", "gpu_count", "node_list", "hosts", "doubt"),
    ),
)
JOB_STEP = Table(
    "job_step",
    "A step of a job.",
    (
        *("job_id", "step", "job_name", "job_state", "exit_code", "start_at", "end_at", "run_seconds"),
        *("node_count", "core_count", "node_list"),
    ),
)
