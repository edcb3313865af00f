"""The pages: a dashboard, what is about one thing, rows of a view, and what views there are.

They are served and written from the same templates, and need no script; that of a served page completes a search. Whatever a log
says is text: Jinja escapes it, and names go through the report's filters.
"""

import datetime as dt
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.resources import files
from typing import Any, Final, Protocol

from jinja2 import Environment
from markupsafe import Markup, escape

from iomine import __version__
from iomine.errors import LimitError, UsageError
from iomine.report import explorer
from iomine.report import page as report
from iomine.report.pictures import bar
from iomine.units import core_hours, counted, human_bytes, percent, target_name
from iomine.views.answers import Row, rows_of
from iomine.web.about import About, sentence_of, sentence_of_filesystem, sentence_of_last, sentence_of_target
from iomine.web.cells import cell, is_numeric, linked, shown
from iomine.web.charts import bars, line, shades, stacked, strip
from iomine.web.circle import BY as CIRCLE_BY
from iomine.web.circle import CircleNight, circle_of, sentence_of_tops
from iomine.web.fabric import FabricNight, sentence_of_links, worst_of
from iomine.web.panel import Column, JobName, Panel, Subject
from iomine.web.panels import PANELS
from iomine.web.question import Filter, Question, Statement, equals
from iomine.web.search import Hit
from iomine.web.sessions import Session
from iomine.web.site_panels import site_panels
from iomine.web.window import GROUPS, Window

# Columns whose values lead to the rows that share them.
_SHARED: Final = frozenset("user app application account job_id target night cluster lineage_id level state stage".split())
_CHARTS: Final = {"log_count": "", "finding_count": "warm", "cost_core_hours": "hot", "cost_ratio": "hot"}
_POLICY: Final = re.compile(rb'(?<=<meta http-equiv="Content-Security-Policy" content=")[^"]*')
_SERVED_POLICY: Final = (
    b"default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; "
    b"base-uri 'none'; form-action 'self'"
)
# As many as there are nodes.
_MOST_LINKS: Final = 1 << 20
_TITLES: Final = {
    "job": "Jobs",
    "log": "Logs",
    "user": "Users",
    "application": "Applications",
    "host": "Hosts",
    "target": "Storage targets",
    "filesystem": "File systems",
    "file": "Files",
}
# Of what a run may have more than a page names.
_COUNTED: Final = {"user": "user", "application": "application", "host": "host", "target": "OST", "filesystem": "file system"}
_BY: Final = {"program": "User and program", "user": "User", "app": "Program", "account": "Account"}


class Links(Protocol):
    """Where pages lie, seen from the page that is made; None where there is no such page."""

    @property
    def is_served(self) -> bool:
        """Whether a server answers forms."""

    def dashboard(self, parameters: Sequence[tuple[str, str]] = ()) -> str | None:
        """The dashboard of a window."""

    def rows(self, question: Question, ending: str = "") -> str | None:
        """Rows of a view as a page, or as a file of that ending."""

    def views(self) -> str | None:
        """The page of all views."""

    def about(self, subject: Subject) -> str | None:
        """The page of a user, application, host, target or file system."""

    def job(self, job: JobName) -> str | None:
        """A job's page."""

    def search(self, text: str = "") -> str | None:
        """What is called so, or where to ask."""

    def names(self) -> str | None:
        """The index of names that a search looks into where no server answers."""

    def report(self, log_id: str, anchor: str = "") -> str | None:
        """A log's report."""

    def triggers(self, code: str) -> str | None:
        """What a trigger stands for."""

    def fabric(self, cluster: str | None = None) -> str | None:
        """The fabric of a machine, of the first one where none is named."""

    def circle(self, cluster: str | None = None) -> str | None:
        """The night's circle of a machine, of the first one where none is named."""

    def script(self, name: str) -> str:
        """A script: `fabric`, `radial` or `search`."""

    def style(self, name: str = "web") -> str:
        """The style sheet of all pages, or `find`, what served reports need besides their own."""


@dataclass(frozen=True, slots=True)
class PanelAnswer:
    """A panel with its answer.

    Attributes:
        panel: the panel.
        columns: the columns shown.
        rows: the answer.
        statement: the SQL.
        fault: why there is no answer, empty where there is one.
    """

    panel: Panel
    columns: Sequence[Column]
    rows: Sequence[Row]
    statement: Statement
    fault: str = ""


STYLES: Final = ("web", "find")


@cache
def style(name: str = "web") -> str:
    """The style sheet of all pages, that of reports and what is new; or `find`, what served reports have besides their own."""
    own = (files("iomine.web") / "templates" / f"{name}.css").read_text(encoding="utf-8")
    return own if name == "find" else report.style() + style("find") + own


@cache
def style_name(name: str = "web") -> str:
    """The name of a style sheet's file, another whenever it changes."""
    return f"{name}-{hashlib.sha256(style(name).encode()).hexdigest()[:12]}.css"


SCRIPTS: Final = ("fabric", "radial", "search")


def script(name: str) -> str:
    """The script that draws the fabric, or the night's circle, or that completes a search."""
    return explorer.asset(f"{name}.js")


@cache
def script_name(name: str) -> str:
    """The name of the script's file, another whenever it changes."""
    return f"{name}-{hashlib.sha256(script(name).encode()).hexdigest()[:12]}.js"


def fabric_page(session: Session, of: FabricNight | None, links: Links, part: Callable[[str], str]) -> str:
    """The picture of a fabric.

    Args:
        session: answers.
        of: which, and when; None where none is known.
        links: of the page.
        part: the address of a part of the picture, by its name.
    """
    worst = worst_of(session.ask, of) if of else None
    return _render("fabric.html.j2", links, of=of, part=part, worst=worst, sentence=worst and sentence_of_links(worst))


def circle_page(session: Session, of: CircleNight | None, links: Links, most_links: int = _MOST_LINKS) -> str:
    """The night's circle.

    Args:
        session: answers.
        of: which night; None where nothing is known of any.
        links: of the page.
        most_links: so many nodes of a circle, those that moved most, lead to their rows.
    """
    if of is None:
        return _render("circle.html.j2", links, of=None)

    def link_of(kind: str, name: str | int, place: int) -> str | None:
        if place >= most_links:
            return None
        at = (Filter("cluster", "eq", of.cluster), Filter("night", "eq", of.night))
        if kind == "ost":
            return links.rows(Question("ost_io", (*at, Filter("ost_id", "eq", name)), order="-moved_bytes"))
        return links.rows(Question("logs", (*at, Filter(kind, "eq", name)), order="-io_core_seconds"))

    picture, tops = circle_of(session.ask, of, link_of)
    return _render(
        "circle.html.j2",
        links,
        of=of,
        picture=picture,
        block=picture.block(),
        tops=tops,
        sentence=sentence_of_tops(tops),
        by=CIRCLE_BY,
    )


def dashboard(session: Session, window: Window, links: Links) -> str:
    """The dashboard of a window."""
    answers = {panel.name: _answer(session, panel, window) for panel in (*PANELS, *site_panels(session))}
    with_logs = [row for row in answers["nights"].rows if row["log_count"]]
    # A panel that exceeded the limits knows nothing.
    is_known = not answers["nights"].fault
    sentences = (sentence_of(with_logs, answers["triggers"].rows), sentence_of_last(with_logs)) if is_known else ()
    return _render(
        "dashboard.html.j2",
        links,
        window=window,
        sentence=" ".join(sentences),
        totals=answers.pop("totals"),
        panels=list(answers.values()),
        groups={by: (_BY[by], links.dashboard(window.parameters(by=by))) for by in GROUPS},
        drill=partial(_drill, window, links),
        chart=partial(_chart, answers["nights"]),
        charts=_CHARTS,
        ends=_ends(_nights_of(answers["nights"].rows)),
        special=_special(answers["nights"].rows, answers["strips"].rows),
        shades=_shades,
        line_of=_line_of,
    )


def about_page(session: Session, about: About, links: Links) -> str:
    """The page of a user, application, host, target or file system: a picture and a sentence of the whole, and then tables."""
    window, subject = about.window, about.subject
    answers = [_answer(session, panel, window, subject) for panel in (about.first, *about.panels)]
    first, *panels = answers
    nights = () if subject.kind == "target" else list(reversed(first.rows))
    causes = next((answer.rows for answer in panels if answer.panel.name == "causes"), ())
    strips = next((answer.rows for answer in answers if answer.panel.form == "strips"), ())
    sentences = {"target": lambda: sentence_of_target(strips), "filesystem": lambda: sentence_of_filesystem(nights)}
    return _render(
        "about.html.j2",
        links,
        about=about,
        window=window,
        first=first,
        panels=panels,
        sentence=sentences.get(subject.kind, lambda: sentence_of(nights, causes))(),
        picture=_in_io(nights, *about.part) if nights else None,
        ends=_ends([row["night"] for row in nights]),
        drill=partial(_drill, window, links),
        special=_special(nights, strips),
        shown_name=target_name(subject.name) if subject.kind == "target" else subject.name,
    )


def search_page(text: str, hits: Sequence[Hit], links: Links) -> str:
    """What is called so."""
    kinds = {kind: [hit for hit in hits if hit.kind == kind] for kind in dict.fromkeys(hit.kind for hit in hits)}
    return _render("search.html.j2", links, text=text, kinds=kinds, titles=_TITLES, follows=not text)


def report_page(written: bytes, places: Sequence[Row], links: Links) -> bytes:
    """A report with the search field, and links to the pages of whose it is and where it ran.

    Args:
        written: the report, as a sweep wrote it.
        places: of its logs, rows of the question `web/log_places`.
        links: of the report's page.
    """
    kinds = {kind: [row for row in places if row["kind"] == kind] for kind in dict.fromkeys(row["kind"] for row in places)}
    top = _render("report_top.html.j2", links, kinds=kinds, subject_of=Subject, names=_COUNTED)
    head = f'<link rel="stylesheet" href="{links.style("find")}">\n<script defer src="{links.script("search")}"></script>\n'
    # Of scripts and forms, a report as a file allows none that it has no use for.
    allowed = _POLICY.sub(_SERVED_POLICY, written, count=1)
    return allowed.replace(b"</head>", f"{head}</head>".encode(), 1).replace(b"<header>", f"{top}<header>".encode(), 1)


def rows_page(session: Session, question: Question, links: Links, shown_count: int, most: int) -> str:
    """Rows of a view.

    Args:
        session: answers.
        question: which rows.
        links: of the page.
        shown_count: how many rows are shown.
        most: how many could be.

    Raises:
        LimitError: the answer takes more than it may.
    """
    statement = question.rows(shown_count)
    answer = session.answer(statement)
    first, size = replace(question, offset=0), min(shown_count, question.limit or shown_count)
    # The view has none behind these, unless it may have more.
    is_last = answer.num_rows < size and (answer.num_rows > 0 or not question.offset)
    row_count = question.offset + answer.num_rows if is_last else session.count(question)
    before = min(max(0, question.offset - size), max(0, row_count - size)) if question.offset else None
    after = question.offset + size if question.offset + size < row_count else None
    dictionary = {row["column_name"]: row for row in session.dictionary(question.view)}
    return _render(
        "rows.html.j2",
        links,
        question=question,
        about=session.views[question.view],
        row_count=row_count,
        names=answer.column_names,
        rows=rows_of(answer),
        dictionary=dictionary,
        statement=statement,
        most=most,
        first=first,
        before=links.rows(replace(question, offset=before)) if before is not None and question.is_ordered else None,
        after=links.rows(replace(question, offset=after)) if after is not None and question.is_ordered else None,
        filters=[(each, links.rows(_without(first, each))) for each in question.filters],
        narrow=_narrower(first, links),
        ordered=partial(_ordered, first, links),
        all_columns=links.rows(replace(question, columns=())) if question.columns else None,
        more=links.rows(replace(first, limit=most)) if size < min(most, row_count) else None,
    )


def views_page(session: Session, links: Links) -> str:
    """What views there are."""
    return _render("views.html.j2", links, views=session.views, question_of=Question)


def mail_page(sentence: str, links: Links, *, is_done: bool, undo: str = "") -> str:
    """What a link in a mail asks for, in the rest of a sentence, with a button; or that it is done, with the token to undo it."""
    return _render("mail.html.j2", links, sentence=sentence, is_done=is_done, undo=undo)


def fault_page(status: int, sentence: str, links: Links) -> str:
    """What is wrong with a request, in a sentence."""
    return _render("fault.html.j2", links, status=status, sentence=sentence)


def _answer(session: Session, panel: Panel, window: Window, subject: Subject | None = None) -> PanelAnswer:
    statement, columns = panel.statement(window, subject), panel.shown(window)
    try:
        rows = rows_of(session.answer(statement))
        if subject and rows:
            columns = [columns[0], *(each for each in columns[1:] if not _repeats(each, subject, rows))]
        return PanelAnswer(panel, columns, rows, statement)
    except (LimitError, UsageError) as error:
        # A question of ours that makes no sense is a fault to be seen; a site's view may cease to.
        if isinstance(error, UsageError) and not panel.name.startswith("site-"):
            raise
        # A panel that exceeds the limits must not take the others with it.
        return PanelAnswer(panel, columns, (), statement, str(error))


def _repeats(column: Column, subject: Subject, rows: Sequence[Row]) -> bool:
    """Whether a column only says whom its page is about."""
    return column.name == subject.kind and all(row[column.name] == subject.name for row in rows)


def _drill(window: Window, links: Links, column: Column, row: Row) -> Markup:
    """A cell of a panel, which leads to the rows behind its number, or to the page of what it names."""
    value = row[column.name]
    if column.is_prose and value:
        return report.sentence(value)
    leads_to = column.drill(row, window) if column.drill is not None else None
    if isinstance(leads_to, Subject) and value in {None, ""}:
        value = leads_to.name
    return linked(column.name, value, None if value is None else _address(links, column.name, value, leads_to))


def _address(links: Links, column: str, value: Any, leads_to: Question | Subject | JobName | None) -> str | None:  # noqa: ANN401
    match leads_to:
        case Question():
            return links.rows(leads_to)
        case Subject():
            return links.about(leads_to)
        case JobName():
            return links.job(leads_to)
    if column == "code":
        return links.triggers(value)
    return links.report(value) if column == "log_id" else None


def _nights_of(rows: Sequence[Row]) -> list[dt.date]:
    """Nights with logs, the first first: an axis has no others."""
    return sorted(row["night"] for row in rows if row["log_count"])


def _ends(nights: Sequence[dt.date]) -> tuple[dt.date, dt.date, int] | None:
    """First and last of some nights, and how many between them are left out."""
    return (nights[0], nights[-1], (nights[-1] - nights[0]).days + 1 - len(nights)) if nights else None


def _chart(answer: PanelAnswer, name: str, title: str) -> Markup:
    nights = _nights_of(answer.rows)
    label = f"{title} by night; the table below has the numbers."
    return bars(nights, {row["night"]: row[name] for row in answer.rows}, label, partial(shown, name), _CHARTS[name])


def _in_io(nights: Sequence[Row], part: str, part_words: str) -> Markup:
    """Core-hours in I/O by night, and a part of them."""
    amounts = [(row["io_core_hours"] or 0.0, row[part] or 0.0) for row in nights]
    return stacked([row["night"] for row in nights], amounts, part_words, lambda hours: core_hours(3600 * hours))


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A column of pictures.

    Attributes:
        ends: where its pictures begin and end, in words.
        drawn: makes the picture of a row.
    """

    ends: tuple[str, ...]
    drawn: Callable[[Row], Markup]


def _special(nights: Sequence[Row], strips: Sequence[Row]) -> Mapping[str, _Drawn]:
    """Columns whose cells are pictures."""
    hours = {hour: place for place, hour in enumerate(sorted({hour for row in strips for hour in row["hours"]}))}
    ends_of_hours = tuple(f"{end:%Y-%m-%d %H:%M}" for end in (min(hours), max(hours))) if hours else ()
    known = _nights_of(nights)
    return {
        "night_finding_counts": _Drawn(tuple(map(str, known[:1] + known[-1:])), partial(_spark, known)),
        "hour_slowdown_ratios": _Drawn(ends_of_hours, partial(_strip, hours)),
    }


def _spark(nights: Sequence[dt.date], row: Row) -> Markup:
    counts = dict(zip(row["nights"], row["night_finding_counts"], strict=True))
    label = f"Findings of {row['code']} by night, at most {max(counts.values())} in one"
    return bars(nights, counts, label, partial(shown, "finding_count"), "warm spark")


def _shades(answer: PanelAnswer) -> Mapping[str, _Drawn]:
    """The pictures of a heat map's rows."""
    places = {at: place for place, at in enumerate(sorted({at for row in answer.rows for at in row["places"]}))}
    value = answer.columns[-1].name
    most = _most(answer.rows, value) or 1.0

    def drawn(row: Row) -> Markup:
        amounts = dict(zip(row["places"], row["amounts"], strict=True))
        words = {at: f"{_place(at)}: {shown(value, amount)}" for at, amount in amounts.items()}
        return shades(places, amounts, most, f"At most {shown(value, row[value])}", words)

    ends = [_place(end) for end in (*list(places)[:1], *list(places)[-1:])]
    return {"amounts": _Drawn(tuple(ends), drawn)}


def _place(at: object) -> str:
    """A place on an axis, in words."""
    return f"{at:%Y-%m-%d %H:%M}" if isinstance(at, dt.datetime) else report.plain(at)


def _line_of(answer: PanelAnswer) -> Markup:
    x, y = (column.name for column in answer.columns[:2])
    known = [(_place(row[x]), float(row[y])) for row in reversed(answer.rows) if row[x] is not None and row[y] is not None]
    return line(known, f"{answer.panel.title}; the table below has the numbers.", partial(shown, y))


def _strip(hours: Mapping[dt.datetime, int], row: Row) -> Markup:
    worst = row["server_slowdown_ratio"]
    return strip(hours, row, f"Requests by hour, {worst:.1f} times as long as usual at worst" if worst else "Requests by hour")


def _narrower(question: Question, links: Links) -> Callable[[str, Row], Markup]:
    """Makes cells of a page. Rows share most of their names and nights, whose links take most of the time of a page."""
    kept = cache(partial(_narrow, question, links))

    def narrow(column: str, row: Row) -> Markup:
        value = row[column]
        return _narrow(question, links, column, value) if isinstance(value, list) else kept(column, value)

    return narrow


def _narrow(question: Question, links: Links, column: str, value: Any) -> Markup:  # noqa: ANN401  of any column
    """A value of a row: as a link to the log's report, to what a trigger is, or to the rows that share it."""
    if value is None:
        return cell(column, value)
    address = None
    if column == "log_id":
        address = links.report(value)
    elif column == "report":
        log_id, _, anchor = value.removeprefix("reports/").partition(".html#")
        address = links.report(log_id, anchor)
    elif column == "code":
        address = links.triggers(value)
    elif column in _SHARED and equals(column, value) not in question.filters:
        address = links.rows(question.narrowed(equals(column, value)))
    return linked(column, value, address)


def _ordered(question: Question, links: Links, column: str) -> tuple[str | None, str]:
    """The address of the rows in a column's order, the highest first, and which order there is now, in ARIA's words."""
    now = {column: "ascending", f"-{column}": "descending"}.get(question.order.partition(",")[0], "none")
    return links.rows(replace(question, order=column if now == "descending" else f"-{column}")), now


def _most(rows: Sequence[Row], column: str) -> float | None:
    """The highest number of a column."""
    return max((row[column] for row in rows if row[column] is not None), default=None)


def _without(question: Question, unwanted: Filter) -> Question:
    return replace(question, filters=tuple(each for each in question.filters if each != unwanted))


def _referenced(text: str) -> Markup:
    """A text for a field that nobody sees, with references to the signs that cannot be seen, so that a form sends it as it is."""
    signs = (str(escape(sign)) if sign.isprintable() else f"&#{ord(sign)};" for sign in text)
    return Markup("".join(signs))  # noqa: S704  escaped, and numbers


def _render(template: str, links: Links, **values: object) -> str:
    return _environment().get_template(template).render(links=links, **values)


@cache
def _environment() -> Environment:
    environment = report.templates_of("iomine.web")
    environment.filters |= {
        "name": report.name,
        "label": report.label,
        "plain": report.plain,
        "numeric": is_numeric,
        "bytes": human_bytes,
        "referenced": _referenced,
        "counted": counted,
        "percent": percent,
    }
    environment.globals |= {"bar": bar, "cell": cell, "most": _most, "version": __version__}
    return environment
