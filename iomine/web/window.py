"""Which nights of which machine a dashboard is about."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from iomine.errors import UsageError, did_you_mean
from iomine.web.question import Filter, Statement, UnknownNameError, date_of
from iomine.web.sessions import Session

USUAL_NIGHTS: Final = 30
# More bars than that cannot be distinguished.
_MOST_NIGHTS: Final = 800
_NEWEST: Final = Statement("SELECT cluster, last_night FROM core.newest_night ORDER BY cluster")
GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "program": ("user", "uid", "app"),
    "user": ("user", "uid"),
    "app": ("app",),
    "account": ("account",),
}


@dataclass(frozen=True, slots=True)
class Window:
    """What is looked at.

    Attributes:
        since: the first night.
        until: the last night.
        cluster: only this machine, None for all.
        clusters: all machines that have logs.
        by: what offenders are: a key of `GROUPS`.
    """

    since: dt.date
    until: dt.date
    cluster: str | None
    clusters: tuple[str, ...]
    by: str = "program"

    @property
    def filters(self) -> tuple[Filter, ...]:
        """The window as conditions on rows with a night."""
        nights = (Filter("night", "ge", self.since), Filter("night", "le", self.until))
        return nights if self.cluster is None else (*nights, Filter("cluster", "eq", self.cluster))

    @property
    def nights(self) -> list[dt.date]:
        """All nights, with logs or without."""
        return [self.since + dt.timedelta(days=days) for days in range((self.until - self.since).days + 1)]

    def parameters(self, **changes: str) -> list[tuple[str, str]]:
        """As they stand in an address."""
        own = {
            "since": self.since.isoformat(),
            "until": self.until.isoformat(),
            "cluster": self.cluster or "",
            "by": self.by,
        }
        return [(name, value) for name, value in (own | changes).items() if value]


def window_of(session: Session, parameters: Sequence[tuple[str, str]], last: dt.date | None = None) -> Window:
    """The window that an address asks for: the last nights that have logs, where it does not say.

    Args:
        session: answers.
        parameters: of the address.
        last: the night to end with instead, where the address does not say.

    Raises:
        UsageError: a parameter makes no sense.
        UnknownNameError: there is no such machine.
    """
    newest = {row["cluster"]: row["last_night"] for row in session.answer(_NEWEST).to_pylist()}
    asked = {name: value for name, value in parameters if value}
    if unknown := asked.keys() - {"since", "until", "cluster", "by"}:
        raise UsageError(f"There is no parameter {min(unknown)[:100]!r}: write since, until, cluster or by.")
    cluster = asked.get("cluster")
    if cluster is not None and cluster not in newest:
        hint = did_you_mean(cluster[:100], newest) or f"there are {', '.join(newest) or 'none yet'}."
        raise UnknownNameError(f"No logs are from a machine {cluster[:100]!r}: {hint}")
    by = asked.get("by", "program")
    if by not in GROUPS:
        raise UsageError(f"Offenders cannot be grouped by {by[:100]!r}: take one of {', '.join(GROUPS)}.")
    ends = [night for name, night in newest.items() if cluster in {None, name}]
    since, until = _nights(asked, last or max(ends, default=dt.datetime.now(dt.UTC).date()))
    return Window(since, until, cluster, tuple(newest), by)


def _nights(asked: Mapping[str, str], newest: dt.date) -> tuple[dt.date, dt.date]:
    until = date_of(asked["until"]) if "until" in asked else newest
    usual = until - min(dt.timedelta(days=USUAL_NIGHTS - 1), until - dt.date.min)
    since = date_of(asked["since"]) if "since" in asked else usual
    if since > until:
        raise UsageError(f"{since} to {until} holds no night, since it ends before it begins: change since or until.")
    if (until - since).days >= _MOST_NIGHTS:
        raise UsageError(f"{since} to {until} is more than a dashboard shows: give at most {_MOST_NIGHTS} nights.")
    return since, until
