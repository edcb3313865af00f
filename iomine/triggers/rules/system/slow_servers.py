"""The file system was slow for everyone.

A run can be slow through no fault of its own: a rebuild, a full target or another job's storm slows the targets that it needs.
Lustre's job_stats say how long its servers dealt with the job's requests; that is compared with the median time of requests of
the same kind and size in the last 30 nights, and weighted by how much of the program's own time depended on which servers. It
counts only if others, or nobody, kept the targets busy: users who keep the targets busy themselves are not excused. If it
fires, the cause is not in the program.

Blind spots: servers before Lustre 2.14 count no times, and then this is unknown. Requests wait in clients and on the network
too, which servers do not see. What is usual is known only after some nights of statistics.
"""

from iomine.triggers.inputs import JOB_STATS, TOUCHED_FILES
from iomine.triggers.model import Above, Case, Level, Snippet, Trigger

TRIGGER = Trigger(
    code="SYSTEM-101",
    view="log_weather_profile",
    level=Level.INFO,
    all_of=(
        Above(
            "weather_slowdown_ratio",
            1.75,
            why="Everyday load of simulated facilities makes programs that were run a few times seem 1.6 times as slow.",
        ),
        Above("others_ratio", 0.5, why="Our own choice: load that is mostly the user's own is no excuse."),
    ),
    finding="Lustre's servers were slow: they made the I/O of this job {weather_slowdown_ratio:.1f} times as long as usual.",
    advice=(
        "Run again before you change the program: I/O that took {weather_slowdown_ratio:.1f} times as long as usual says "
        "little about it. Compare with earlier runs of the same program, and treat the other findings of this log with care. "
        "If it is slow at the same hours each day, start the job at others. The operators can see in the views which targets "
        "and which jobs caused it."
    ),
    cases=(
        Case("a rebuild was going on", {"weather_slowdown_ratio": 5.0, "others_ratio": 0.9}, state="fired"),
        Case("exactly on the threshold", {"weather_slowdown_ratio": 1.75, "others_ratio": 0.9}, state="clear"),
        Case("it kept the servers busy itself", {"weather_slowdown_ratio": 5.0, "others_ratio": 0.5}, state="clear"),
        Case("no statistics of the file system", {"weather_slowdown_ratio": None, "others_ratio": None}, state="unknown"),
        Case(
            "the log touched no file",
            {"touched_file_count": 0, "weather_slowdown_ratio": None, "others_ratio": None},
            state="not applicable",
        ),
        Case(
            "fair, but statistics are missing",
            {"weather_slowdown_ratio": 1.0, "others_ratio": 0.9, "is_complete": False},
            state="unknown",
        ),
        Case(
            "statistics are missing, but those at hand are enough",
            {"weather_slowdown_ratio": 5.0, "others_ratio": 0.9, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(TOUCHED_FILES,),
    lacks=("statistics_lack",),
    needs=JOB_STATS,
    snippets=(
        Snippet(
            "shell",
            "The same run again at night (Slurm)",
            """\
sbatch --begin=03:00 job.sh
""",
        ),
    ),
    version="3",
)
