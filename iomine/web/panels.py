"""The panels of the dashboard: the query of each, the titles of its columns, and the rows behind each number."""
# ruff: noqa: S608 - put together from the texts in this file

from typing import Final

from iomine.views.answers import Row
from iomine.web.panel import Column, Drill, Panel, named, of_offender, rejects_with, rows_with, sweeps_of, this_sweep, user_of
from iomine.web.question import Filter, Question, equals
from iomine.web.window import Window

_LOGS: Final = tuple(
    "night start_at user app job_id nprocs run_seconds io_ratio io_core_seconds read_bytes write_bytes log_id".split()
)
_FINDINGS: Final = tuple("night user app code level charged_core_seconds cost_core_seconds finding job_id log_id".split())
# A finding whose time is charged to others has a cost of its own all the same.
_COSTLIEST: Final = "-charged_core_seconds,-cost_core_seconds"
_JOBS: Final = tuple(
    "night job_id user account job_name job_state node_count run_seconds node_hours log_count io_core_seconds".split()
)
_WORST: Final = 10
# What no user can change.
FACILITYS: Final = "Of that the facility's"
_FACILITYS: Final = (equals("is_facility_cause", True),)
_APPLICATION: Final[Drill] = named("application", "application")
_TARGET: Final[Drill] = named("target", "target")
_MOUNT: Final[Drill] = rows_with("mount_usage", (), "-night", "mount", "fs_type")


def _slow_hours(view: str, about: str, name: str, title: str) -> Panel:
    hours = rows_with(view, (), "-lost_service_seconds", "cluster", "target")
    return Panel(
        name,
        title,
        about,
        f"""
SELECT
    cluster, target, count(*) AS hour_count, max(server_slowdown_ratio) AS server_slowdown_ratio,
    sum(lost_service_seconds) AS lost_service_seconds, arg_max("user", lost_service_seconds ORDER BY begin_at) AS "user",
    max(slowed_job_count) AS slowed_job_count, max(begin_at) AS begin_at
FROM {view}
WHERE {{where}}
GROUP BY cluster, target
ORDER BY lost_service_seconds DESC NULLS LAST, cluster, target
LIMIT {_WORST}
""",
        (
            Column("target", "Target", _TARGET),
            Column("lost_service_seconds", "Service time lost", hours, is_barred=True),
            Column("hour_count", "Slow hours", hours),
            Column("server_slowdown_ratio", "Times slower, at worst", hours),
            Column("slowed_job_count", "Jobs slowed at once", hours),
            Column("user", "Busiest user in the worst hour", user_of),
            Column("begin_at", "Last slow hour (UTC)", hours),
        ),
        "No hour was slow, or the sweep was given no statistics of servers (--stats).",
    )


def _blamed(row: Row, window: Window) -> Question:
    """Runs with a verdict, as the panel counts them."""
    slow = (equals("is_slow_run", True),) if row["weather_verdict"] == "unexplained" else ()
    return rows_with("job_weather", (), "-lost_service_seconds", "weather_verdict", only=slow)(row, window)


STRIPS: Final = Panel(
    "strips",
    "Targets by hour",
    "How much longer than usual requests took on each storage target, hour by hour; what lost most comes first.",
    "web/target_strips",
    (
        Column("target", "Target", _TARGET),
        Column("hour_slowdown_ratios", "By hour"),
        Column("server_slowdown_ratio", "Times slower, at worst"),
        Column("user", "Mostly by", user_of),
        Column("hour_count", "Slow hours", rows_with("target_hours", (), "-lost_service_seconds", "cluster", "target")),
        Column("lost_service_seconds", "Service time lost"),
        Column("slowed_job_count", "Jobs slowed"),
    ),
    "The sweep was given no statistics of servers (--stats), so it is not known when they were slow.",
    "strips",
)
REGRESSIONS: Final = Panel(
    "regressions",
    "Slower than usual",
    "Applications whose I/O takes longer than it usually does for as many bytes: from some run on (a step), or in one run.",
    "web/regressions",
    (
        Column("application", "Application", _APPLICATION),
        Column("user", "User", user_of),
        Column("io_slowdown_ratio", "Times slower"),
        Column("lost_core_hours", "Core-hours lost", is_barred=True),
        Column("regression_kind", "A step, or a run"),
        Column("since_at", "Since (UTC)"),
        Column("log_count", "Runs"),
        Column("weather_verdict", "Whose fault"),
        Column("log_id", "The first"),
    ),
    "Nothing takes longer than usual, or too few runs of it are known.",
)
BLAME: Final = Panel(
    "blame",
    "Whose fault",
    "Why I/O was slow: the storage system, a neighbour, the fabric or the application itself; and the worst run's reason. "
    "Unexplained are slow runs only.",
    "web/blame",
    (
        Column("weather_verdict", "Fault of", _blamed),
        Column("log_count", "Logs"),
        Column("slow_run_count", "Of them slow"),
        Column("lost_service_seconds", "Service time lost", is_barred=True),
        Column("run_slowdown_ratio", "Times slower, at worst"),
        Column("weather_rule", "Why, of the worst", is_prose=True),
        Column("log_id", "The worst"),
    ),
    "No log of these nights was judged.",
)
NEIGHBOURS: Final = Panel(
    "neighbours",
    "Neighbours",
    "Who suffered from whom, whose requests kept the same targets busy.",
    "web/neighbours",
    (
        Column("user", "Who suffered", user_of),
        Column("neighbour", "From whom", named("user", "neighbour")),
        Column("lost_service_seconds", "Service time lost", is_barred=True),
        Column("log_count", "Logs"),
        Column("weather_slowdown_ratio", "Times slower, on average"),
        Column("neighbour_ratio", "Neighbour's share"),
        Column("slowest_kind", "On"),
        Column("last_night", "Last night"),
    ),
    "Nobody suffered from a neighbour, or the sweep was given no statistics of servers (--stats).",
)
OUTCOMES: Final = Panel(
    "outcomes",
    "What became of advice",
    "Findings that a mail listed, and what later runs show: gone, reduced, still there or worse; not known until three have run.",
    "web/outcomes",
    (
        Column("outcome", "Outcome"),
        Column("application", "Application", _APPLICATION),
        Column("user", "User", user_of),
        Column("title", "What was found"),
        Column("saved_core_hours", "Core-hours saved since", is_barred=True),
        Column("told_night", "Mailed"),
        Column("clear_night", "Gone since"),
        Column("later_count", "Runs since"),
        Column("later_fired_count", "Of them with it"),
        Column("code", "Trigger"),
    ),
    "No mail has listed a finding yet, or too few have run since.",
)
PANELS: Final = (
    Panel(
        "totals",
        "In these nights",
        "",
        """
SELECT
    count(DISTINCT night) FILTER (WHERE log_count > 0) AS night_count, coalesce(sum(log_count), 0)::BIGINT AS log_count,
    coalesce(sum(finding_count), 0)::BIGINT AS finding_count, sum(cost_core_seconds) / 3600 AS cost_core_hours,
    sum(facility_cost_core_seconds) / 3600 AS facility_cost_core_hours, sum(io_core_seconds) / 3600 AS io_core_hours,
    (SELECT count(*) FROM rejects) AS reject_count
FROM trends
WHERE {where}
""",
        (
            Column("night_count", "Nights with logs", rows_with("trends", (), "-night")),
            Column("log_count", "Logs", rows_with("logs", _LOGS, "-io_core_seconds")),
            Column("finding_count", "Findings", rows_with("findings", _FINDINGS, _COSTLIEST)),
            Column("cost_core_hours", "Cost in core-hours", rows_with("findings", _FINDINGS, _COSTLIEST)),
            Column("facility_cost_core_hours", FACILITYS, rows_with("findings", _FINDINGS, _COSTLIEST, only=_FACILITYS)),
            Column("io_core_hours", "Core-hours in I/O", rows_with("logs", _LOGS, "-io_core_seconds")),
            Column("reject_count", "Rejects, of any night", rejects_with),
        ),
        "",
        "tiles",
    ),
    Panel(
        "nights",
        "Nights",
        "Cost: core-hours that ranks spent in the requests that findings are about. Rejects are those of that date's sweeps.",
        """
SELECT
    night, sum(log_count)::BIGINT AS log_count, sum(finding_count)::BIGINT AS finding_count,
    sum(cost_core_seconds) / 3600 AS cost_core_hours, sum(facility_cost_core_seconds) / 3600 AS facility_cost_core_hours,
    sum(io_core_seconds) / 3600 AS io_core_hours, sum(cost_core_seconds) / nullif(sum(io_core_seconds), 0) AS cost_ratio,
    sum(rejected_count)::BIGINT AS rejected_count
FROM trends
WHERE {where}
GROUP BY night
ORDER BY night DESC
""",
        (
            Column("night", "Night", rows_with("trends", (), "-log_count", "night")),
            Column("log_count", "Logs", rows_with("logs", _LOGS, "-io_core_seconds", "night")),
            Column("finding_count", "Findings", rows_with("findings", _FINDINGS, _COSTLIEST, "night")),
            Column("cost_core_hours", "Cost in core-hours", rows_with("findings", _FINDINGS, _COSTLIEST, "night")),
            Column(
                "facility_cost_core_hours",
                FACILITYS,
                rows_with("findings", _FINDINGS, _COSTLIEST, "night", only=_FACILITYS),
            ),
            Column("io_core_hours", "Core-hours in I/O", rows_with("logs", _LOGS, "-io_core_seconds", "night")),
            Column("cost_ratio", "Cost, of the time in I/O", rows_with("findings", _FINDINGS, _COSTLIEST, "night")),
            Column("rejected_count", "Rejects", sweeps_of),
        ),
        "There are no logs of these nights.",
        "nights",
    ),
    STRIPS,
    Panel(
        "offenders",
        "Worst offenders",
        "By what their findings cost without the facility's part, which users cannot change.",
        f"""
SELECT
    {{keys}}, sum(cost_core_seconds) / 3600 AS cost_core_hours,
    sum(facility_cost_core_seconds) / 3600 AS facility_cost_core_hours, sum(finding_count)::BIGINT AS finding_count,
    sum(log_count)::BIGINT AS log_count, sum(io_core_seconds) / 3600 AS io_core_hours,
    sum(io_core_seconds) / nullif(sum(timed_core_seconds), 0) AS io_ratio
FROM core.app_night
WHERE {{where}}
GROUP BY {{keys}}
ORDER BY
    cost_core_hours - coalesce(facility_cost_core_hours, 0) DESC NULLS LAST, io_core_hours DESC NULLS LAST, log_count DESC,
    {{keys}}
LIMIT {_WORST}
""",
        (
            Column(
                "cost_core_hours",
                "Cost in core-hours",
                of_offender("findings", _FINDINGS, _COSTLIEST),
                is_barred=True,
                lighter="facility_cost_core_hours",
            ),
            Column(
                "facility_cost_core_hours",
                FACILITYS,
                of_offender("findings", _FINDINGS, _COSTLIEST, only=_FACILITYS),
            ),
            Column("finding_count", "Findings", of_offender("findings", _FINDINGS, _COSTLIEST)),
            Column("log_count", "Logs", of_offender("logs", _LOGS, "-io_core_seconds")),
            Column("io_core_hours", "Core-hours in I/O", of_offender("logs", _LOGS, "-io_core_seconds")),
            Column("io_ratio", "Share of the run in I/O", of_offender("logs", _LOGS, "-io_ratio")),
        ),
        "There are no logs of these nights.",
    ),
    Panel(
        "triggers",
        "Findings by trigger",
        "What is found, the costliest first, and in which nights how often.",
        """
WITH of_night AS (
    SELECT
        code, night, sum(finding_count)::BIGINT AS finding_count, sum(charged_core_seconds) AS cost_core_seconds,
        sum(facility_charged_core_seconds) AS facility_cost_core_seconds
    FROM core.finding_night
    WHERE {where}
    GROUP BY code, night
)
SELECT
    of_night.code, any_value(title) AS title, sum(cost_core_seconds) / 3600 AS cost_core_hours,
    sum(facility_cost_core_seconds) / 3600 AS facility_cost_core_hours, sum(finding_count)::BIGINT AS finding_count,
    list(night ORDER BY night) AS nights,
    list(finding_count ORDER BY night) AS night_finding_counts
FROM of_night
LEFT JOIN triggers ON triggers.code = of_night.code AND triggers.ruleset = 'iomine'
GROUP BY of_night.code
ORDER BY cost_core_hours DESC NULLS LAST, finding_count DESC, of_night.code
""",
        (
            Column("code", "Trigger"),
            Column("title", "What it finds"),
            Column("cost_core_hours", "Cost in core-hours", rows_with("findings", _FINDINGS, _COSTLIEST, "code")),
            Column("facility_cost_core_hours", FACILITYS, rows_with("findings", _FINDINGS, _COSTLIEST, "code", only=_FACILITYS)),
            Column("finding_count", "Findings", rows_with("findings", _FINDINGS, _COSTLIEST, "code")),
            Column("night_finding_counts", "By night"),
        ),
        "Nothing was found in these nights.",
    ),
    REGRESSIONS,
    BLAME,
    NEIGHBOURS,
    OUTCOMES,
    _slow_hours(
        "ost_hotspots",
        "Storage targets that in some hours took at least twice as long as usual for a request, and who had most of them.",
        "osts",
        "Hot OSTs",
    ),
    _slow_hours("mdt_storms", "The same of metadata targets.", "mdts", "Metadata storms"),
    Panel(
        "applications",
        "Applications",
        "Applications of all users, by time in I/O.",
        f"""
SELECT
    application, count(*) AS log_count, count(DISTINCT uid) AS user_count, sum(io_core_seconds) / 3600 AS io_core_hours,
    sum(io_core_seconds) / nullif(sum(run_core_seconds) FILTER (WHERE io_core_seconds IS NOT NULL), 0) AS io_ratio,
    try_cast(sum(read_bytes) AS BIGINT) AS read_bytes, try_cast(sum(write_bytes) AS BIGINT) AS write_bytes
FROM logs
WHERE {{where}} AND is_owner_confirmed IS DISTINCT FROM false
GROUP BY application
ORDER BY io_core_hours DESC NULLS LAST, log_count DESC, application
LIMIT {_WORST}
""",
        (
            Column("application", "Application", _APPLICATION),
            Column(
                "io_core_hours", "Core-hours in I/O", rows_with("logs", _LOGS, "-io_core_seconds", "application"), is_barred=True
            ),
            Column("io_ratio", "Share of the run in I/O", rows_with("logs", _LOGS, "-io_ratio", "application")),
            Column("log_count", "Logs", rows_with("logs", _LOGS, "-start_at", "application")),
            Column("user_count", "Users", rows_with("logs", _LOGS, "user", "application")),
            Column("read_bytes", "Read", rows_with("logs", _LOGS, "-read_bytes", "application")),
            Column("write_bytes", "Written", rows_with("logs", _LOGS, "-write_bytes", "application")),
        ),
        "There are no logs of these nights.",
    ),
    Panel(
        "filesystems",
        "File systems",
        "What programs did on each mounted file system, by time in I/O; a file counts once for each log and night.",
        f"""
SELECT
    mount, fs_type, sum(io_core_seconds) / 3600 AS io_core_hours, sum(meta_core_seconds) / 3600 AS meta_core_hours,
    try_cast(sum(read_bytes) AS BIGINT) AS read_bytes, try_cast(sum(write_bytes) AS BIGINT) AS write_bytes,
    try_cast(sum(file_count) AS BIGINT) AS file_count, sum(log_count)::BIGINT AS log_count
FROM mount_usage
WHERE {{where}}
GROUP BY mount, fs_type
ORDER BY io_core_hours DESC NULLS LAST, log_count DESC, mount, fs_type
LIMIT {_WORST}
""",
        (
            Column("mount", "Mount", named("filesystem", "mount")),
            Column("fs_type", "Type", _MOUNT),
            Column("io_core_hours", "Core-hours in I/O", _MOUNT, is_barred=True),
            Column("meta_core_hours", "In metadata calls", _MOUNT),
            Column("read_bytes", "Read", _MOUNT),
            Column("write_bytes", "Written", _MOUNT),
            Column("file_count", "Files", _MOUNT),
            Column("log_count", "Logs", _MOUNT),
        ),
        "No log of these nights shows on which file systems its files were.",
    ),
    Panel(
        "coverage",
        "Coverage",
        "How many of the jobs that ran, and of their node-hours, left a log.",
        """
SELECT
    night, sum(job_count)::BIGINT AS job_count, sum(logged_job_count)::BIGINT AS logged_job_count, sum(node_hours) AS node_hours,
    sum(logged_node_hours) AS logged_node_hours, sum(logged_node_hours) / nullif(sum(node_hours), 0) AS logged_ratio
FROM coverage
WHERE {where} AND job_count IS NOT NULL
GROUP BY night
ORDER BY night DESC
""",
        (
            Column("night", "Night", rows_with("coverage", (), "-job_count", "night")),
            Column(
                "job_count", "Jobs", rows_with("jobs", _JOBS, "-node_hours", "night", only=(Filter("run_seconds", "ge", 1e-9),))
            ),
            Column(
                "logged_job_count",
                "With a log",
                rows_with(
                    "jobs", _JOBS, "-node_hours", "night", only=(Filter("run_seconds", "ge", 1e-9), Filter("log_count", "ge", 1))
                ),
            ),
            Column("node_hours", "Node-hours", rows_with("jobs", _JOBS, "-node_hours", "night")),
            Column(
                "logged_node_hours",
                "With a log",
                rows_with("jobs", _JOBS, "-node_hours", "night", only=(Filter("log_count", "ge", 1),)),
            ),
            Column("logged_ratio", "Share of node-hours", rows_with("coverage", (), "-job_count", "night"), is_barred=True),
        ),
        "No accounting of these nights is known: give it to the sweep with --stats.",
    ),
    Panel(
        "sweeps",
        "Last sweeps",
        "Found is always ingested, known and rejected together.",
        """
SELECT sweep_id, cluster, start_at, end_at, found_count, ingested_count, known_count, rejected_count
FROM sweeps
ORDER BY start_at DESC, sweep_id
LIMIT 5
""",
        (
            Column("start_at", "Started (UTC)", this_sweep),
            Column("end_at", "Ended (UTC)", this_sweep),
            Column("cluster", "Machine"),
            Column("found_count", "Found", this_sweep),
            Column("ingested_count", "Ingested", this_sweep),
            Column("known_count", "Known", this_sweep),
            Column("rejected_count", "Rejected", this_sweep),
        ),
        "There was no sweep yet.",
    ),
    Panel(
        "rejects",
        "Rejects",
        "Inputs that could not be read, of any night and machine, by reason.",
        f"""
SELECT reason, stage, count(*) AS reject_count, max("at") AS "at"
FROM rejects
GROUP BY reason, stage
ORDER BY reject_count DESC, reason, stage
LIMIT {_WORST}
""",
        (
            Column("reason", "Why"),
            Column("stage", "At"),
            Column("reject_count", "Inputs", rejects_with, is_barred=True),
            Column("at", "Last (UTC)", rejects_with),
        ),
        "All inputs could be read.",
    ),
)
