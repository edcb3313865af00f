"""Metrics that operators may be told of when they cross a bar of the site's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from iomine.errors import UsageError, did_you_mean
from iomine.report.facts import Ask, rows_of


@dataclass(frozen=True, slots=True)
class Metric:
    """A number of each night.

    Attributes:
        about: what it is, in a few words.
        sql: its `value` on some `night`s; one that is not there is 0. $1 and $2 are the two nights that matter.
    """

    about: str
    sql: str


METRICS: Final[Mapping[str, Metric]] = {
    "findings_core_hours": Metric(
        "core-hours in requests that findings are about",
        "SELECT night, sum(cost_core_seconds) / 3600 AS value FROM trends WHERE night IN ($1, $2) GROUP BY night",
    ),
    "finding_log_ratio": Metric(
        "share of the logs that have findings",
        "SELECT night, sum(finding_log_count) / sum(log_count) AS value FROM trends "
        "WHERE night IN ($1, $2) AND log_count > 0 GROUP BY night",
    ),
    "hot_ost_hours": Metric(
        "hours in which an OST was at least twice as slow as usual",
        "SELECT night, count(*) AS value FROM ost_hotspots WHERE night IN ($1, $2) GROUP BY night",
    ),
    "mdt_storm_hours": Metric(
        "hours in which a metadata target was at least twice as slow as usual",
        "SELECT night, count(*) AS value FROM mdt_storms WHERE night IN ($1, $2) GROUP BY night",
    ),
    "regressions": Metric(
        "applications whose I/O takes longer since that night, or a run of them",
        "SELECT night, count(*) AS value FROM regressions WHERE is_regression AND night IN ($1, $2) GROUP BY night",
    ),
    "rejected_ratio": Metric(
        "share of the files found by that day's sweeps that could not be read",
        "SELECT (start_at AT TIME ZONE 'UTC')::DATE AS night, sum(rejected_count) / sum(found_count) AS value FROM sweeps "
        "WHERE found_count > 0 AND (start_at AT TIME ZONE 'UTC')::DATE IN ($1, $2) GROUP BY ALL",
    ),
    "unlogged_ratio": Metric(
        "share of the node-hours of jobs without a log",
        "SELECT night, 1 - sum(logged_node_hours) / sum(node_hours) AS value FROM coverage "
        "WHERE node_hours > 0 AND night IN ($1, $2) GROUP BY night",
    ),
    "unread_clusters": Metric(
        "machines without a log of that night",
        "SELECT night, machines - count(DISTINCT cluster) AS value FROM core.app_night, "
        "(SELECT count(DISTINCT cluster) AS machines FROM core.newest_night) "
        "WHERE night IN ($1, $2) GROUP BY night, machines",
    ),
}


@dataclass(frozen=True, slots=True)
class Notice:
    """A metric that lies above its bar, and above where it was.

    Attributes:
        name: of the metric.
        about: what it is.
        value: on the night.
        before: on the night before.
        bar: the site's.
    """

    name: str
    about: str
    value: float
    before: float
    bar: float


def check_bars(bars: Mapping[str, float]) -> None:
    """Makes sure that each bar is of a metric.

    Raises:
        UsageError: one is not.
    """
    for name in bars:
        if name not in METRICS:
            raise UsageError(f"There is no notice {name}: {did_you_mean(name, METRICS) or f'choose {_names()}.'}")


def _names() -> str:
    *rest, last = METRICS
    return f"{', '.join(rest)} or {last}"


def notices(ask: Ask, bars: Mapping[str, float], night: date) -> Sequence[Notice]:
    """What is to be noticed.

    Args:
        ask: answers queries over the published views.
        bars: by metric.
        night: the last night.
    """
    before = night - timedelta(days=1)
    found = []
    for name, bar in bars.items():
        rows = rows_of(ask(METRICS[name].sql, [night, before]))
        values = {row["night"]: float(row["value"] or 0) for row in rows}
        value, earlier = values.get(night, 0.0), values.get(before, 0.0)
        if value > bar and value > earlier:
            found.append(Notice(name, METRICS[name].about, value, earlier, bar))
    return found
