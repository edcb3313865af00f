"""The run's metadata calls slowed a metadata target for everyone.

A metadata target serves the opens, stats and closes of all users whose directories it holds. One job with many of
them makes all others wait. Lustre's job_stats say how many requests of a job each target dealt with and how long that took; this
fires where they took much longer than usual while most of what kept the target busy was this user's.

Blind spots: job_stats count requests that reach a server; what clients answer from their caches costs nobody anything.
Other jobs of the same user count as the user's own.
"""

from iomine.triggers.inputs import JOB_STATS, TOUCHED_FILES
from iomine.triggers.model import Above, Case, Level, Snippet, Trigger

TRIGGER = Trigger(
    code="SYSTEM-103",
    view="log_weather_profile",
    level=Level.WARN,
    all_of=(
        Above("mdt_slowdown_ratio", 2.0, why="Our own choice: up to twice as long is everyday life on a shared file system."),
        Above("mdt_own_ratio", 0.5, why="Our own choice: who does more than half of it is the cause."),
        Above("mdt_rpc_count", 100_000, why="Our own choice: a metadata target deals with as many in some seconds."),
    ),
    finding=(
        "{mdt_rpc_count} metadata requests kept a metadata target busy: it took {mdt_slowdown_ratio:.1f} times as long as "
        "usual, and {mdt_own_ratio:.0%} of its time was for this user."
    ),
    advice=(
        "Open and look up fewer files, and less often. Least effort: run fewer of these jobs at once. Open a file once and "
        "keep it open instead of opening it for every record; do not poll for files with stat, wait for an event or look every "
        "minute; pack many small files into one (tar, a database, WebDataset shards). Keep Python environments and other trees "
        "of small files on node-local storage or in an image. The {mdt_rpc_count} requests slow others only while they last."
    ),
    cases=(
        Case(
            "a storm of its own making",
            {"mdt_slowdown_ratio": 8.0, "mdt_own_ratio": 0.9, "mdt_rpc_count": 5_000_000},
            state="fired",
        ),
        Case(
            "exactly on the threshold",
            {"mdt_slowdown_ratio": 2.0, "mdt_own_ratio": 0.9, "mdt_rpc_count": 5_000_000},
            state="clear",
        ),
        Case("others' storm", {"mdt_slowdown_ratio": 8.0, "mdt_own_ratio": 0.5, "mdt_rpc_count": 5_000_000}, state="clear"),
        Case("hardly any requests", {"mdt_slowdown_ratio": 8.0, "mdt_own_ratio": 0.9, "mdt_rpc_count": 100_000}, state="clear"),
        Case(
            "a storm, but statistics are missing",
            {"mdt_slowdown_ratio": 8.0, "mdt_own_ratio": 0.9, "mdt_rpc_count": 5_000_000, "is_complete": False},
            state="fired",
        ),
        Case(
            "fair, but statistics are missing",
            {"mdt_slowdown_ratio": 1.0, "mdt_own_ratio": 0.9, "mdt_rpc_count": 5_000_000, "is_complete": False},
            state="unknown",
        ),
        Case("no statistics", {"mdt_slowdown_ratio": None, "mdt_own_ratio": None, "mdt_rpc_count": None}, state="unknown"),
        Case(
            "the log touched no file",
            {"touched_file_count": 0, "mdt_slowdown_ratio": None, "mdt_own_ratio": None, "mdt_rpc_count": None},
            state="not applicable",
        ),
    ),
    applies_to=(TOUCHED_FILES,),
    lacks=("statistics_lack",),
    needs=JOB_STATS,
    sign_of=("POSIX-301", "POSIX-302", "POSIX-303"),
    snippets=(
        Snippet(
            "shell",
            "One file to wait for, looked at once a minute by one rank (instead of a stat from every rank, all the time)",
            """\
until [ -e run.done ]; do sleep 60; done
""",
        ),
    ),
    version="2",
)
