"""Metrics that are reported to operators when they cross a threshold of the site's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from iomine.errors import UsageError, did_you_mean
from iomine.post.settings import Limit
from iomine.views.answers import Ask, rows_of
from iomine.views.questions import question

# What each question under `sql/questions/notices` gives as the `value` of a night; a night that is not there has 0. Those about
# links give their `link_names` too.
METRICS: Final[Mapping[str, str]] = {
    "congested_links": "links that were congested: three quarters full or more, or with ten times the usual wait of data",
    "faulty_links": "links with errors, that went down, discarded packets or lost capacity",
    "findings_core_hours": "core-hours in requests that findings are about, the facility's part included",
    "finding_log_ratio": "share of the logs that have findings",
    "hot_ost_hours": "hours in which an OST was at least twice as slow as usual",
    "links_down": "links that are down, or that were there and are gone",
    "mdt_storm_hours": "hours in which a metadata target was at least twice as slow as usual",
    "regressions": "applications whose I/O takes longer since that night, or a run of them",
    "rejected_ratio": "share of the files found by that day's sweeps that could not be read",
    "shared_link_hours": (
        "hours, summed over links, in which jobs, or storage and other traffic, shared a link at least half full"
    ),
    "unlogged_ratio": "share of the node-hours of jobs without a log",
    "unread_clusters": "machines without a log of that night",
}


@dataclass(frozen=True, slots=True)
class Notice:
    """A metric that lies on the wrong side of its threshold, and further than on the night before.

    Attributes:
        name: of the metric.
        about: what it is.
        value: on the night.
        before: on the night before.
        limit: the site's.
        links: names of links that it counts and did not count the night before; empty where it counts none.
    """

    name: str
    about: str
    value: float
    before: float
    limit: Limit
    links: tuple[str, ...] = ()


def check_thresholds(thresholds: Mapping[str, Limit]) -> None:
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


def notices(ask: Ask, thresholds: Mapping[str, Limit], night: date) -> Sequence[Notice]:
    """What is to be noticed.

    Args:
        ask: answers queries over the published views.
        thresholds: by metric.
        night: the last night.
    """
    before = night - timedelta(days=1)
    found = []
    for name, limit in thresholds.items():
        rows = {row["night"]: row for row in rows_of(ask(question(f"notices/{name}"), {"night": night, "night_before": before}))}
        value, earlier = (float(rows[each]["value"] or 0) if each in rows else 0.0 for each in (night, before))
        named, known = ((rows[each].get("link_names") or ()) if each in rows else () for each in (night, before))
        links = tuple(sorted(set(named) - set(known)))
        if _crosses(limit, value) and ((links and limit.side == "above") or _is_news(limit, value, earlier)):
            found.append(Notice(name, METRICS[name], value, earlier, limit, links))
    return found


def _crosses(limit: Limit, value: float) -> bool:
    match limit.side:
        case "above":
            return value > limit.value
        case "below":
            return value < limit.value
    return value == limit.value


def _is_news(limit: Limit, value: float, earlier: float) -> bool:
    """Whether a metric went further than it was the night before."""
    match limit.side:
        case "above":
            return value > earlier
        case "below":
            return value < earlier
    return value != earlier
