"""What a part of the dashboard is, and how a number leads to its rows."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from iomine.sqltext import name_of
from iomine.views.answers import Row
from iomine.views.questions import find_question
from iomine.views.restricted import ANOTHER, OTHERS
from iomine.web.question import Filter, Question, Statement, Value, conditions, equals
from iomine.web.window import GROUPS, Window


@dataclass(frozen=True, slots=True)
class Subject:
    """What a page is about.

    Attributes:
        kind: `user`, `application`, `host`, `target` or `filesystem`.
        name: a login, or a uid where there is none; of a target with its file system or without; of a file system its mount, or
            what servers call it.
    """

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class JobName:
    """A job, which has a page.

    Attributes:
        cluster: the machine.
        job_id: its id.
    """

    cluster: str
    job_id: str


# Rows, or the page of what a cell names; None where there is neither.
Drill = Callable[[Row, Window], Question | Subject | JobName | None]
Counted = Callable[[Row, Window], Question]

# Logs have no account.
_SUMS: Final = tuple(
    "night cluster user app account log_count finding_count cost_core_seconds facility_cost_core_seconds io_core_seconds".split()
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a panel.

    Attributes:
        name: in the answer.
        title: for people.
        drill: the rows behind a number; None where there are none.
        is_barred: whether bars beside the numbers compare them.
        is_prose: whether it is sentences, which are shown whole.
        lighter: a column that is part of it, which bars draw lighter; empty where there is none.
    """

    name: str
    title: str
    drill: Drill | None = None
    is_barred: bool = False
    is_prose: bool = False
    lighter: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """A part of the dashboard.

    Attributes:
        name: its anchor.
        title: its heading.
        about: what it shows, in a sentence or two.
        sql: the query; its slot `{where}` is the window, and `{keys}` are the columns that identify an offender. Or the name
            of a question in a file.
        columns: what is shown of the answer.
        empty: what to say where the answer has no rows.
        form: `tiles`, `nights`, `strips` or `table`.
    """

    name: str
    title: str
    about: str
    sql: str
    columns: tuple[Column, ...]
    empty: str
    form: str = "table"

    def statement(self, window: Window, subject: Subject | None = None) -> Statement:
        """The query for a window, of one subject or of all."""
        if self.sql.startswith(_QUESTIONS):
            return asked(self.sql, window, subject)
        is_of_nights = "{where}" in self.sql
        where, values = conditions(window.filters) if is_of_nights else ("", ())
        keys = ", ".join(map(name_of, GROUPS[window.by]))
        return Statement(self.sql.format(where=where, keys=keys).strip(), values)

    def shown(self, window: Window) -> list[Column]:
        """Its columns; those that identify an offender come first."""
        keys = [Column(key, *_KEYS[key]) for key in GROUPS[window.by] if key in _KEYS] if "{keys}" in self.sql else []
        return [*keys, *self.columns]


def asked(name: str, window: Window, subject: Subject | None = None) -> Statement:
    """A question in a file, for a window, of one subject or of all."""
    asking = find_question(name)
    known: dict[str, Value | None] = {
        "since": window.since,
        "until": window.until,
        "cluster": window.cluster,
        **({"kind": subject.kind, "name": subject.name} if subject else dict.fromkeys(("kind", "name"))),
    }
    return Statement(asking.sql, {name: known[name] for name in asking.parameters})


def user_of(row: Row, _window: Window) -> Subject | None:
    """The page of a row's user; all others together, and who is not known, have none."""
    name = row["user"] or row.get("uid")
    return None if name in {None, OTHERS} else Subject("user", str(name))


def named(kind: str, column: str) -> Drill:
    """The page of what a column names; who may not be named has none."""
    return lambda row, _window: None if row[column] in {None, "", ANOTHER} else Subject(kind, row[column])


_QUESTIONS: Final = "web/"
_KEYS: Final[dict[str, tuple[str, Drill | None]]] = {
    "user": ("User", user_of),
    "app": ("Program", named("application", "app")),
    "account": ("Account", None),
}


def rows_with(view: str, columns: tuple[str, ...], order: str, *keys: str, only: tuple[Filter, ...] = ()) -> Counted:
    """Rows of a view that have the same keys, within the window."""

    def drill(row: Row, window: Window) -> Question:
        same = tuple(equals(key, row[key]) for key in keys)
        nights = tuple(each for each in window.filters if each.column not in keys)
        return Question(view, (*nights, *same, *only), columns, order)

    return drill


def of_offender(view: str, columns: tuple[str, ...], order: str, *, only: tuple[Filter, ...] = ()) -> Counted:
    """Rows of a view that are of the same offender, or the sums that an account's numbers are made of."""

    def drill(row: Row, window: Window) -> Question:
        keys = GROUPS[window.by]
        if window.by == "account":
            return rows_with("core.app_night", _SUMS, "-cost_core_seconds", *keys)(row, window)
        return rows_with(view, columns, order, *keys, only=only)(row, window)

    return drill


def sweeps_of(row: Row, window: Window) -> Question:
    """The sweeps that began on a night's date."""
    start = dt.datetime.combine(row["night"], dt.time(), dt.UTC)
    of_day = (Filter("start_at", "ge", start), Filter("start_at", "le", dt.datetime.combine(row["night"], dt.time.max, dt.UTC)))
    return Question("sweeps", (*of_day, *(each for each in window.filters if each.column == "cluster")), order="-start_at")


def this_sweep(row: Row, _window: Window) -> Question:
    """A sweep."""
    return Question("sweeps", (equals("sweep_id", row["sweep_id"]),))


def rejects_with(row: Row, _window: Window) -> Question:
    """Rejects for the same reason, or all."""
    same = tuple(equals(key, row[key]) for key in ("stage", "reason") if key in row)
    return Question("rejects", same, ("at", "path", "stage", "reason", "size_bytes", "is_final"), "-at")
