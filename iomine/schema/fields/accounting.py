"""What the scheduler accounts."""

from iomine.schema.fields.kinds import Kind, Privacy, defined

ACCOUNTING = {
    **defined(
        Kind.TEXT,
        Privacy.TERM,
        exit_code="Exit code and signal, as the scheduler has them.",
        step="Step of a job: batch, extern, or its number.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.NAME,
        account="Account or project that the job is charged to.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.WORD,
        job_name="Name of the job.",
        node_list="Compute nodes of the job, in the scheduler's short notation.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.JOB,
        shown_job_id="The job's id as the scheduler shows it, with the index of an array's task or the like.",
    ),
    **defined(
        Kind.LABEL,
        Privacy.OPEN,
        scheduler="Scheduler that the accounting came from: slurm, pbs, lsf or uge.",
    ),
    **defined(
        Kind.LABEL,
        Privacy.TERM,
        job_state="State of a job in Slurm's words: COMPLETED, FAILED, CANCELLED, TIMEOUT, RUNNING, PENDING, and so on.",
    ),
    **defined(
        Kind.LABEL,
        Privacy.NAME,
        partition="Partition or queue.",
        qos="Quality of service.",
    ),
    **defined(
        Kind.TEXTS,
        Privacy.NAME,
        hosts="Names of the compute nodes.",
    ),
    **defined(
        Kind.TIME,
        submit_at="When the job was submitted.",
    ),
    **defined(
        Kind.COUNT,
        node_count="Compute nodes.",
        core_count="Cores allocated.",
        gpu_count="GPUs allocated.",
    ),
    **defined(
        Kind.SECONDS,
        limit_seconds="Time limit, empty where there is none.",
    ),
}
