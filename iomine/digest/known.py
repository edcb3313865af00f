"""What the views have about recipients, queried for all of them at once."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import groupby
from operator import itemgetter
from typing import Final, Literal

from iomine.digest.causes import Cause, causes_of, sign_of
from iomine.post.model import Subject
from iomine.report.causes import is_facility_cause
from iomine.views.answers import Ask, Row, rows_of
from iomine.views.questions import question

_WHAT: Final = ("recipient", "cluster", "user", "application")
_GOOD: Final = frozenset({"gone", "reduced"})
# A finding that ended without a mail is no longer wrong, and no mail caused that.
_OVER: Final = frozenset({"gone", "not told"})

What = tuple[str, str, str, str]
Whose = Literal["user", "project"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Which nights are reported to whom.

    Attributes:
        whose: whether recipients are users or projects.
        since: the first night by recipient.
        usual_since: the first night for all others.
        until: the last night.
        only: the only recipient, None for all.
        without: accounts; their runs are not reported.
    """

    whose: Whose
    since: Mapping[str, date]
    usual_since: date
    until: date
    only: str | None = None
    without: Sequence[str] = ()

    def first_night(self, recipient: str) -> date:
        """The first night that is reported to a recipient."""
        return self.since.get(recipient, self.usual_since)

    def parameters(self) -> dict[str, object]:
        """Parameters of the questions about runs."""
        return {
            "whose": self.whose,
            "recipients": list(self.since),
            "since_nights": list(self.since.values()),
            "usual_since_night": self.usual_since,
            "earliest_night": min([self.usual_since, *self.since.values()]),
            "last_night": self.until,
            "only_recipient": self.only,
            "left_out_accounts": list(self.without),
        }


@dataclass(frozen=True, slots=True)
class Application:
    """How the runs of an application went.

    Attributes:
        cluster: the machine.
        user: whose runs.
        application: what was run.
        run_count: all other runs than those below.
        system_count: runs that the file system made slow.
        neighbour_count: runs that another user's jobs made slow.
        fabric_count: runs that a faulty or congested link made slow.
        slowdown_ratio: how much longer their I/O took, the median run's.
        night_count: nights of the slow ones.
        unexplained_count: runs that were slow although neither servers nor what they did explains it.
        unexplained_slowdown_ratio: how much longer their I/O took than that of runs alike, the median run's.
        unexplained_night_count: nights of these.
    """

    cluster: str
    user: str
    application: str
    run_count: int
    system_count: int
    neighbour_count: int
    fabric_count: int
    slowdown_ratio: float | None
    night_count: int
    unexplained_count: int
    unexplained_slowdown_ratio: float | None
    unexplained_night_count: int


@dataclass(frozen=True, slots=True)
class Better:
    """Findings in an application that are gone, or fewer.

    Attributes:
        cluster: the machine.
        user: whose runs.
        application: what was run.
        codes: what is gone, or fewer; by what it saved.
        is_gone: whether all of them are gone.
        mailed_night: the first night on which a mail listed any of them.
        since_night: the first night without, None where they are only fewer.
        saved_core_seconds: what that saved; codes may be about the same requests, so it is the most that one saved.
        run_count: runs since.
    """

    cluster: str
    user: str
    application: str
    codes: tuple[str, ...]
    is_gone: bool
    mailed_night: date
    since_night: date | None
    saved_core_seconds: float
    run_count: int

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """What the post knows them by."""
        return tuple(Subject(self.cluster, self.user, self.application, code) for code in self.codes)


@dataclass(slots=True)
class Known:
    """What is known of a recipient.

    Attributes:
        recipient: a user, or an account.
        causes: what is wrong, the costliest first.
        better: what is not any more, what saved most first.
        applications: how runs went, by machine, user and application.
        nights: rows of what findings cost by user and night.
    """

    recipient: str
    causes: list[Cause] = field(default_factory=list)
    better: list[Better] = field(default_factory=list)
    applications: dict[tuple[str, str, str], Application] = field(default_factory=dict)
    nights: list[Row] = field(default_factory=list)


def gather(ask: Ask, scope: Scope) -> dict[str, Known]:
    """What is known, by recipient.

    Args:
        ask: answers queries over the published views.
        scope: which nights of whom.
    """
    outcomes = rows_of(ask(question("digest/outcomes")))
    over = [row for row in outcomes if row["is_over"] and row["outcome"] in _OVER]
    runs = scope.parameters()
    fired = runs | {f"over_{name}s": [row[name] for row in over] for name in ("cluster", "lineage_id", "code")}
    known = _with_applications(rows_of(ask(question("digest/run_counts"), runs)))
    together = _together(rows_of(ask(question("digest/pairs"), fired)))
    for what, rows in groupby(rows_of(ask(question("digest/signs"), fired)), key=_what):
        recipient, cluster, user, application = what
        known[recipient].causes += causes_of(cluster, user, application, list(map(sign_of, rows)), together[what])
    for row in rows_of(ask(question("digest/nights"), fired)):
        known[row["recipient"]].nights.append(row)
    better = _better(outcomes)
    for of_one in known.values():
        of_one.causes.sort(key=lambda cause: -cause.lost_core_seconds)
        of_one.better = [better[what] for what in of_one.applications if what in better]
        of_one.better.sort(key=lambda each: -each.saved_core_seconds)
    return known


def _what(row: Row) -> What:
    return row["recipient"], row["cluster"], row["user"], row["application"]


def _with_applications(rows: Iterable[Row]) -> dict[str, Known]:
    known: dict[str, Known] = {}
    for row in rows:
        recipient, cluster, user, application = _what(row)
        of_one = known.setdefault(recipient, Known(recipient))
        counts = {name: value for name, value in row.items() if name not in _WHAT}
        of_one.applications[cluster, user, application] = Application(cluster, user, application, **counts)
    return known


def _together(rows: Iterable[Row]) -> Mapping[What, dict[tuple[str, str], int]]:
    found: dict[What, dict[tuple[str, str], int]] = defaultdict(dict)
    for row in rows:
        found[_what(row)][row["code"], row["other_code"]] = row["run_count"]
    return found


def _better(outcomes: Iterable[Row]) -> dict[tuple[str, str, str], Better]:
    """What got better, by machine, user and application; what is still there in other runs of the same is not better."""
    by_code: dict[tuple[str, str, str], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in outcomes:
        # Findings that ended without a mail are not reported either, nor what the facility fixed.
        is_without_mail = row["outcome"] == "not told" and row["is_over"]
        if row["outcome"] != "unknown" and not is_without_mail and not is_facility_cause(row["code"]):
            by_code[row["cluster"], row["user"], row["application"] or ""][row["code"]].append(row)
    found = {}
    for what, codes in by_code.items():
        good = [rows for rows in codes.values() if all(row["outcome"] in _GOOD for row in rows)]
        if good:
            found[what] = _better_of(what, sorted(good, key=_saved, reverse=True))
    return found


def _better_of(what: tuple[str, str, str], by_code: list[list[Row]]) -> Better:
    rows = [row for of_code in by_code for row in of_code]
    clear_nights = [row["clear_night"] for row in rows if row["clear_night"]]
    return Better(
        *what,
        codes=tuple(of_code[0]["code"] for of_code in by_code),
        is_gone=all(row["outcome"] == "gone" for row in rows),
        mailed_night=min(map(itemgetter("told_night"), rows)),
        since_night=max(clear_nights, default=None),
        saved_core_seconds=_saved(by_code[0]),
        run_count=max(row["clear_since_count"] if row["outcome"] == "gone" else row["later_count"] for row in rows),
    )


def _saved(rows: Iterable[Row]) -> float:
    return sum(row["saved_core_seconds"] or 0.0 for row in rows)
