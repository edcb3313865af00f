"""Metrics that are reported to operators when they cross a threshold of the site's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from iomine.errors import UsageError, did_you_mean
from iomine.views.answers import Ask, rows_of
from iomine.views.questions import question

# What each question under `sql/questions/notices` gives as the `value` of a night; a night that is not there has 0.
METRICS: Final[Mapping[str, str]] = {
    "findings_core_hours": "core-hours in requests that findings are about",
    "finding_log_ratio": "share of the logs that have findings",
    "hot_ost_hours": "hours in which an OST was at least twice as slow as usual",
    "mdt_storm_hours": "hours in which a metadata target was at least twice as slow as usual",
    "regressions": "applications whose I/O takes longer since that night, or a run of them",
    "rejected_ratio": "share of the files found by that day's sweeps that could not be read",
    "unlogged_ratio": "share of the node-hours of jobs without a log",
    "unread_clusters": "machines without a log of that night",
}


@dataclass(frozen=True, slots=True)
class Notice:
    """A metric that lies above its threshold, and above where it was.

    Attributes:
        name: of the metric.
        about: what it is.
        value: on the night.
        before: on the night before.
        threshold: the site's.
    """

    name: str
    about: str
    value: float
    before: float
    threshold: float


def check_thresholds(thresholds: Mapping[str, float]) -> None:
    """Makes sure that each threshold is of a metric.

    Raises:
        UsageError: one is not.
    """
    for name in thresholds:
        if name not in METRICS:
            raise UsageError(f"There is no notice {name}: {did_you_mean(name, METRICS) or f'choose {_names()}.'}")


def _names() -> str:
    *rest, last = METRICS
    return f"{', '.join(rest)} or {last}"


def notices(ask: Ask, thresholds: Mapping[str, float], night: date) -> Sequence[Notice]:
    """What is to be noticed.

    Args:
        ask: answers queries over the published views.
        thresholds: by metric.
        night: the last night.
    """
    before = night - timedelta(days=1)
    found = []
    for name, threshold in thresholds.items():
        rows = rows_of(ask(question(f"notices/{name}"), {"night": night, "night_before": before}))
        values = {row["night"]: float(row["value"] or 0) for row in rows}
        value, earlier = values.get(night, 0.0), values.get(before, 0.0)
        if value > threshold and value > earlier:
            found.append(Notice(name, METRICS[name], value, earlier, threshold))
    return found
