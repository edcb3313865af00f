"""Pages about one user, application, host, target or file system: which, in which nights, and the panels that each kind has."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from iomine.errors import UsageError
from iomine.units import core_hours, counted, human_bytes, human_seconds, percent
from iomine.views.answers import Row, rows_of
from iomine.views.questions import question
from iomine.web.panel import Column, Drill, JobName, Panel, Subject, asked, named, user_of
from iomine.web.panels import BLAME, FACILITYS, NEIGHBOURS, OUTCOMES, REGRESSIONS, STRIPS
from iomine.web.question import UnknownNameError
from iomine.web.sessions import Session
from iomine.web.window import Window, window_of

KINDS: Final = {
    "user": "user",
    "application": "application",
    "host": "host",
    "target": "storage target",
    "filesystem": "file system",
}
_EVER: Final = Window(dt.date(1, 1, 1), dt.date(9999, 12, 31), None, ())
_SECONDS: Final = 3600.0
# Of each kind that have a page where there is no server, besides those that the dashboard names.
_MOST_OF_A_KIND: Final = 40


def _job_of(row: Row, _window: Window) -> JobName | None:
    return JobName(row["cluster"], row["job_id"]) if row["job_id"] else None


_APPLICATION: Final[Drill] = named("application", "application")
_FACILITYS: Final = Column("facility_cost_core_hours", FACILITYS)
_COSTS: Final = (
    Column("cost_core_hours", "Cost in core-hours", is_barred=True, lighter=_FACILITYS.name),
    _FACILITYS,
    Column("io_core_hours", "Core-hours in I/O"),
    Column("log_count", "Logs"),
    Column("finding_count", "Findings"),
    Column("last_night", "Last night"),
)
_NIGHTS: Final = Panel(
    "nights",
    "Nights",
    "",
    "web/subject_nights",
    (
        Column("night", "Night"),
        Column("log_count", "Logs"),
        Column("io_core_hours", "Core-hours in I/O"),
        Column("cost_core_hours", "Cost in core-hours"),
        _FACILITYS,
        Column("io_ratio", "Share of the run in I/O"),
        Column("finding_count", "Findings"),
        Column("read_bytes", "Read"),
        Column("write_bytes", "Written"),
    ),
    "No log of these nights is known.",
)
_CAUSES: Final = Panel(
    "causes",
    "What to change",
    "Causes of what is found in these runs, the costliest first, the facility's last; a report has all signs of its causes.",
    "web/subject_causes",
    (
        Column("title", "What it is"),
        Column("cost_core_hours", "Cost in core-hours", is_barred=True, lighter=_FACILITYS.name),
        _FACILITYS,
        Column("log_count", "Logs"),
        Column("last_night", "Last night"),
        Column("log_id", "The costliest"),
        Column("code", "Trigger"),
    ),
    "Nothing was found in these runs.",
)
_USERS: Final = Panel(
    "users",
    "Users",
    "Whose runs they are.",
    "web/subject_users",
    (Column("user", "User", user_of), *_COSTS),
    "No log of these nights is known.",
)
_APPLICATIONS: Final = Panel(
    "applications",
    "Applications",
    "",
    "web/subject_applications",
    (Column("application", "Application", _APPLICATION), *_COSTS[:3], Column("io_ratio", "Share in I/O"), *_COSTS[3:]),
    "No log of these nights is known.",
)
_TARGETS: Final = Panel(
    "targets",
    "OSTs",
    "On which OSTs these runs moved most, as far as their layouts are known.",
    "web/subject_targets",
    (
        Column("target", "OST", named("target", "target")),
        Column("moved_bytes", "Moved", is_barred=True),
        Column("log_count", "Logs"),
        Column("last_night", "Last night"),
    ),
    "No layout of their files is known.",
)
# What tables of runs begin with, and how large each was.
_RUN: Final = (
    Column("log_id", "Report"),
    Column("start_at", "Started (UTC)"),
    Column("user", "User", user_of),
    Column("application", "Application", _APPLICATION),
)
_EXTENT: Final = (
    Column("job_id", "Job", _job_of),
    Column("nprocs", "Ranks"),
    Column("run_seconds", "Ran for"),
)
_RUNS: Final = Panel(
    "runs",
    "Runs that lose most",
    "The first 20; the log's id leads to its report.",
    "web/subject_runs",
    (
        *_RUN,
        Column("cost_core_hours", "Cost in core-hours", is_barred=True, lighter=_FACILITYS.name),
        _FACILITYS,
        Column("io_core_hours", "Core-hours in I/O"),
        Column("io_ratio", "Share in I/O"),
        *_EXTENT,
        Column("read_bytes", "Read"),
        Column("write_bytes", "Written"),
    ),
    "No log of these nights is known.",
)
_MOVERS: Final = Panel(
    "movers",
    "Who uses it",
    "Who moved most on an OST of this number, as far as the layouts of their files are known.",
    "web/target_users",
    (
        Column("user", "User", user_of),
        Column("application", "Application", _APPLICATION),
        Column("moved_bytes", "Moved on it", is_barred=True),
        Column("log_count", "Logs"),
        Column("last_night", "Last night"),
    ),
    "No log is known to have used it.",
)
_MOVES: Final = Panel(
    "runs",
    "Runs that moved most on it",
    "The first 20; the log's id leads to its report.",
    "web/target_runs",
    (
        *_RUN,
        Column("moved_bytes", "Moved on it", is_barred=True),
        Column("cost_core_hours", "Cost in core-hours, anywhere"),
        _FACILITYS,
        Column("io_core_hours", "Core-hours in I/O, anywhere"),
        *_EXTENT,
    ),
    "No log is known to have used it.",
)
_SLOW_HOURS: Final = Panel(
    "hours",
    "Slow hours",
    "Hours in which requests took at least twice as long as usual, and who had most of them.",
    "web/slow_hours",
    (
        Column("begin_at", "Hour (UTC)"),
        Column("target", "Target", named("target", "target")),
        Column("server_slowdown_ratio", "Times slower"),
        Column("user", "Mostly by", user_of),
        Column("user_ratio", "Their share"),
        Column("lost_service_seconds", "Service time lost", is_barred=True),
        Column("slowed_job_count", "Jobs slowed"),
        Column("moved_bytes", "Moved"),
        Column("rpc_count", "Requests"),
    ),
    "No hour was slow, or the sweep was given no statistics of servers (--stats).",
)
_FILESYSTEM_NIGHTS: Final = Panel(
    "nights",
    "Nights",
    "",
    "web/filesystem_nights",
    (
        Column("night", "Night"),
        Column("log_count", "Logs"),
        Column("io_core_hours", "Core-hours in I/O"),
        Column("meta_core_hours", "In metadata calls"),
        Column("read_bytes", "Read"),
        Column("write_bytes", "Written"),
        Column("file_count", "Files"),
        Column("written_file_count", "Written"),
        Column("small_written_file_count", "Of them small"),
    ),
    "No log of these nights is known to have used it.",
)
_FILESYSTEM_USERS: Final = Panel(
    "users",
    "Who uses it",
    "Programs that spent most time in I/O on it.",
    "web/filesystem_users",
    (
        Column("user", "User", user_of),
        Column("app", "Program", named("application", "app")),
        Column("io_core_hours", "Core-hours in I/O", is_barred=True),
        Column("meta_core_hours", "In metadata calls"),
        Column("read_bytes", "Read"),
        Column("write_bytes", "Written"),
        Column("file_count", "Files"),
        Column("log_count", "Logs"),
        Column("last_night", "Last night"),
    ),
    "No log of these nights is known to have used it.",
)
_SERVERS: Final = Panel(
    "servers",
    "What its servers counted",
    "Of all clients, with a log or without; of the servers whose file system has the name of the mount.",
    "web/filesystem_servers",
    (
        Column("night", "Night"),
        Column("read_bytes", "Read"),
        Column("write_bytes", "Written"),
        Column("mdt_rpc_count", "Metadata requests"),
        Column("ost_max_over_mean_ratio", "Busiest OST, times the mean"),
        Column("busiest_target", "The busiest", named("target", "busiest_target")),
        Column("fullest_ratio", "Fullest OST"),
        Column("ost_count", "OSTs"),
        Column("mdt_count", "MDTs"),
    ),
    "The sweep was given no statistics of its servers (--stats).",
)
# Servers' statistics, which take longer to look through, may name users of whom there is no log.
_LAST_NIGHT: Final = ("web/subject_last_night", "web/server_user_last_night")
_PANELS: Final[Mapping[str, tuple[Panel, ...]]] = {
    "user": (_CAUSES, _APPLICATIONS, _RUNS, REGRESSIONS, OUTCOMES, BLAME, NEIGHBOURS, _TARGETS),
    "application": (_CAUSES, _USERS, _RUNS, REGRESSIONS, OUTCOMES, BLAME, _TARGETS),
    "host": (_RUNS, _USERS, _APPLICATIONS, _CAUSES),
    "target": (_SLOW_HOURS, _MOVERS, _MOVES),
    "filesystem": (STRIPS, _SLOW_HOURS, _FILESYSTEM_USERS, _SERVERS),
}


@dataclass(frozen=True, slots=True)
class About:
    """A page about one subject.

    Attributes:
        subject: what it is about.
        window: which nights.
    """

    subject: Subject
    window: Window

    @property
    def title(self) -> str:
        """Which kind of thing it is."""
        return KINDS[self.subject.kind]

    @property
    def first(self) -> Panel:
        """What its picture is drawn of."""
        return {"target": STRIPS, "filesystem": _FILESYSTEM_NIGHTS}.get(self.subject.kind, _NIGHTS)

    @property
    def part(self) -> tuple[str, str]:
        """Which part of the time in I/O its picture marks: a column, and what it is in words."""
        if self.subject.kind == "filesystem":
            return "meta_core_hours", "went into metadata calls"
        return "cost_core_hours", "went into requests with findings"

    @property
    def panels(self) -> tuple[Panel, ...]:
        """What stands below the picture."""
        return _PANELS[self.subject.kind]


def about_of(session: Session, kind: str, parameters: Sequence[tuple[str, str]]) -> About:
    """The page that an address asks for: of the last nights of which something is known, where it does not say.

    Raises:
        UsageError: a parameter makes no sense.
        UnknownNameError: nothing of that name is known.
    """
    if kind not in KINDS:
        raise UnknownNameError(f"There are no pages about {kind[:100]!r}: there are those of {', '.join(KINDS)}.")
    name = next((value for key, value in parameters if key == "name"), "")
    if not name:
        raise UsageError(f"The name of the {KINDS[kind]} is missing: write name=NAME.")
    subject = Subject(kind, name)
    rest = [(key, value) for key, value in parameters if key != "name"]
    nights = (session.answer(asked(question, _EVER, subject))["last_night"][0].as_py() for question in _LAST_NIGHT)
    last = next((night for night in nights if night is not None), None)
    if last is None:
        raise UnknownNameError(f"No {KINDS[kind]} of that name is known: search for a part of it.")
    return About(subject, window_of(session, rest, last))


def subjects_of(session: Session, window: Window) -> list[Subject]:
    """Users, applications, hosts and OSTs of the costliest findings, and the file systems used most: the first of each kind."""
    asked_of = {"since": window.since, "until": window.until, "cluster": window.cluster, "most": _MOST_OF_A_KIND}
    return [Subject(row["kind"], row["name"]) for row in rows_of(session.ask(question("web/found_subjects"), asked_of))]


def sentence_of(nights: Sequence[Row], causes: Sequence[Row]) -> str:
    """The whole in a sentence, without names.

    Args:
        nights: what runs took by night.
        causes: what is found in them.
    """
    if not nights:
        return "No log of these nights is known."
    log_count = sum(row["log_count"] for row in nights)
    in_io, cost, facilitys = (_sum(nights, column) for column in ("io_core_hours", "cost_core_hours", "facility_cost_core_hours"))
    runs = f"{counted(log_count, 'run')} in {counted(len(nights), 'night')}"
    if all(row["io_core_hours"] is None for row in nights):
        return f"{runs}; how long their I/O took is not known."
    said = f"{runs} spent {core_hours(in_io)} in I/O"
    if not cost:
        return f"{said}; no finding is about that time."
    share = f" ({percent(min(cost / in_io, 1))})" if in_io else ""
    # What other findings charge may not be known.
    known = [row for row in causes if row["cost_core_hours"] and row["title"]]
    first = max(known, key=lambda row: row["cost_core_hours"], default=None)
    part = "" if first is None else "most" if _SECONDS * first["cost_core_hours"] > cost / 2 else "the largest part"
    most = f", {part} of it by one cause: {first['title'][0].lower()}{first['title'][1:]}" if first else ""
    apart = f" Of that, {core_hours(facilitys)} have a cause that the facility has to fix." if facilitys else ""
    return f"{said}; {core_hours(cost)}{share} went into requests with findings{most}.{apart}"


def sentence_of_last(nights: Sequence[Row]) -> str:
    """What the last of some nights lost, and the worst, in a sentence; empty where that says no more than `sentence_of`.

    Args:
        nights: what runs took by night.
    """
    costs = {row["night"]: row["cost_core_hours"] or 0.0 for row in nights}
    last, worst = max(costs, default=None), max(costs, key=costs.__getitem__, default=None)
    if last is None or worst is None or len(costs) == 1 or not costs[worst]:
        return ""
    lost = core_hours(_SECONDS * costs[last]) if costs[last] else "nothing"
    if last == worst:
        return f"The last night, {last}, was the worst: {lost}."
    return f"The last night, {last}, lost {lost}; the worst, {worst}, lost {core_hours(_SECONDS * costs[worst])}."


def sentence_of_filesystem(nights: Sequence[Row]) -> str:
    """What was done on a file system, in a sentence, without names."""
    if not nights:
        return "No log of these nights is known to have used it."
    read, written, files = (sum(row[column] or 0 for row in nights) for column in ("read_bytes", "write_bytes", "file_count"))
    in_io, in_meta = (_sum(nights, column) for column in ("io_core_hours", "meta_core_hours"))
    share = f", {percent(min(in_meta / in_io, 1))} of it in opens, stats and other metadata calls" if in_io else ""
    return (
        f"{counted(sum(row['log_count'] for row in nights), 'run')} in {counted(len(nights), 'night')} read {human_bytes(read)} "
        f"and wrote {human_bytes(written)} in {counted(files, 'file')} here, which took {core_hours(in_io)}{share}."
    )


def sentence_of_target(strips: Sequence[Row]) -> str:
    """What was wrong with a target, in a sentence, without names."""
    if not strips:
        return (
            "The sweep was given no statistics of servers (--stats), so it is not known when it was slow; logs say who used it."
        )
    worst = max(strips, key=lambda row: row["lost_service_seconds"] or 0.0)
    if not worst["hour_count"]:
        return "Requests never took twice as long as usual in an hour of these nights."
    lost = human_seconds(worst["lost_service_seconds"])
    return (
        f"Requests took at least twice as long as usual in {counted(worst['hour_count'], 'hour')}, "
        f"{worst['server_slowdown_ratio']:.1f} times at worst, and {lost} of service time were lost."
    )


def _sum(rows: Sequence[Row], column: str) -> float:
    """A sum of core-hours as core-seconds."""
    return _SECONDS * sum(row[column] or 0.0 for row in rows)
