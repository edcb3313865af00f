"""The file system was slow for everyone.

A run can be slow through no fault of its own: a rebuild, a full target or another job's storm slows the whole file
system. Lustre's own statistics say how long a byte took while the log ran, against what is usual. This is told so that
nobody looks for the reason in the program. Statistics of the file system are not read yet, so for now this is unknown
for every log.

Blind spots: a mean over the whole file system hides one slow OST. A job that is large enough makes the weather itself,
and then this only says that it was there. What is usual is known only after some weeks of statistics.
"""

from iomine.triggers.model import Above, Case, Level, Snippet, Trigger

TRIGGER = Trigger(
    code="SYSTEM-101",
    view="log_pending_profile",
    level=Level.INFO,
    all_of=(
        Above(
            "weather_slowdown_ratio",
            2.0,
            why="Our own choice: differences of up to a factor of two are everyday life on a shared file system.",
        ),
    ),
    finding="While this ran, the file system took {weather_slowdown_ratio:.1f} times as long for a byte as it usually does.",
    advice=(
        "Run again before you change the program: I/O that took {weather_slowdown_ratio:.1f} times as long as usual says "
        "little about it. Compare with earlier runs of the same program, and hold the other findings of this log with care. "
        "If it is slow at the same hours each day, start the job at others. The operators can see in the views which targets "
        "and which jobs were behind it."
    ),
    cases=(
        Case("a rebuild was going on", {"weather_slowdown_ratio": 5.0}, state="fired"),
        Case("exactly on the bar", {"weather_slowdown_ratio": 2.0}, state="clear"),
        Case("no statistics of the file system", {"weather_slowdown_ratio": None}, state="unknown"),
        Case("fair, but statistics are missing", {"weather_slowdown_ratio": 1.0, "is_complete": False}, state="unknown"),
        Case(
            "statistics are missing, but those at hand are enough",
            {"weather_slowdown_ratio": 5.0, "is_complete": False},
            state="fired",
        ),
    ),
    needs="Lustre server statistics of the time of the run",
    snippets=(
        Snippet(
            "shell",
            "The same run again at night (Slurm)",
            """\
sbatch --begin=03:00 job.sh
""",
        ),
    ),
)
