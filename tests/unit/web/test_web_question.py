"""Questions: what readers may ask, and that it stays a question."""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from facility import Facility
from hypothesis import given, settings
from hypothesis import strategies as st
from outline import HOSTILE

from iomine.errors import UsageError
from iomine.sqltext import literal
from iomine.views.model import find_views
from iomine.views.passing import Connection
from iomine.views.query import answer, open_catalog
from iomine.web.question import OPERATORS, Filter, Question, Statement, equals, parse
from iomine.web.sessions import Session

TYPES = {
    "user": "VARCHAR", "uid": "BIGINT", "io_ratio": "DOUBLE", "is_partial": "BOOLEAN", "night": "DATE",
    "start_at": "TIMESTAMP WITH TIME ZONE", "ranks": "BIGINT[]",
}  # fmt: skip
VALUES = {
    "user": st.text(), "uid": st.integers(-(2**63), 2**63 - 1), "io_ratio": st.floats(allow_nan=False, allow_infinity=False),
    "is_partial": st.booleans(), "night": st.dates(), "start_at": st.datetimes(timezones=st.just(dt.UTC)),
}  # fmt: skip
NAME = f'"(?:{"|".join(TYPES)})"'
CONDITION = rf"(?:{NAME} (?:=|>=|<=) \$\d+|contains\(lower\({NAME}\), lower\(\$\d+\)\)|\({NAME} IS NULL\) = \$\d+)"
SQL = re.compile(
    rf'SELECT (?:\*|{NAME}(?:, {NAME})*)\nFROM "logs"(?:\nWHERE {CONDITION}(?: AND {CONDITION})*)?'
    rf'\nORDER BY (?:{NAME} (?:ASC|DESC) NULLS LAST, )?"log_id"\nLIMIT \d+(?: OFFSET \d+)?'
)
FILTERS = st.one_of(
    *(st.builds(Filter, st.just(column), st.sampled_from(["eq", "ge", "le"]), values) for column, values in VALUES.items()),
    st.builds(Filter, st.just("user"), st.just("contains"), VALUES["user"]),
    st.builds(Filter, st.sampled_from(list(TYPES)), st.just("null"), st.booleans()),
)
QUESTIONS = st.builds(
    Question,
    st.just("logs"),
    st.lists(FILTERS, max_size=4, unique=True).map(tuple),
    st.lists(st.sampled_from(list(TYPES)), unique=True, max_size=3).map(tuple),
    st.sampled_from(["", *TYPES, *(f"-{name}" for name in TYPES)]),
    st.none() | st.integers(1, 2**62),
    st.integers(0, 2**63 - 1),
)
# Half of what is tried is nearly right, so that it is looked at closely.
ALMOST = st.sampled_from(
    [*TYPES, *OPERATORS, "columns", "order", "limit", "offset", "column", "operator", "value", "'; DROP TABLE x --", '"']
)
ANYTHING = ALMOST | st.text(max_size=30)
PARAMETERS = st.lists(
    st.tuples(
        st.one_of(ANYTHING, st.tuples(ANYTHING, ANYTHING).map(".".join)),
        st.one_of(ANYTHING, st.tuples(ANYTHING, ANYTHING).map(",".join)),
    ),
    max_size=5,
)


@given(QUESTIONS)
@pytest.mark.proof
def test_address_of_a_question_asks_it_again(question: Question) -> None:
    """What stands in an address is read as the question that it was made of, to the last digit and sign."""
    assert question == parse("logs", question.parameters, TYPES)


@given(PARAMETERS)
@settings(max_examples=500)
def test_nothing_that_is_sent_becomes_sql(parameters: list[tuple[str, str]]) -> None:
    """Whatever is sent is turned away in a sentence, or asks with names of the view and values apart."""
    try:
        question = parse("logs", parameters, TYPES)
    except UsageError:
        return
    statement = question.rows(100)
    assert SQL.fullmatch(statement.sql)
    assert len(statement.values) == len(question.filters) == len(set(re.findall(r"\$\d+", statement.sql)))


@pytest.fixture(scope="module")
def empty(empty_catalog: Path) -> Iterator[Connection]:
    """A connection to a catalog with no row. To open one for each of hundreds of texts takes half a minute."""
    with open_catalog(empty_catalog) as connection:
        yield connection


@given(VALUES["user"] | st.sampled_from(list(HOSTILE.values())))
@settings(max_examples=200)
def test_shown_text_is_the_text_and_can_be_seen(empty: Connection, text: str) -> None:
    """A text as it stands in shown SQL is that text to DuckDB, in one line and in signs that can be seen."""
    shown = literal(text)
    assert shown.isprintable()
    assert [text] == answer(empty, f"SELECT {shown} AS text")["text"].to_pylist()


@given(st.one_of(*VALUES.values()))
@settings(max_examples=200)
def test_shown_value_is_the_value(empty: Connection, value) -> None:
    """A number, date or time as it stands in shown SQL is equal to the one that was handed over."""
    statement = Statement(f"SELECT $1 = {literal(value)} AS is_same", (value,))
    assert [True] == answer(empty, statement.sql, statement.values)["is_same"].to_pylist()


@pytest.mark.parametrize(
    ("parameters", "reported"),
    [
        ([("usr.eq", "x")], "The view has no column 'usr': did you mean user?"),
        ([("user.like", "x")], "There is no operator 'like': take one of eq, ge, le, contains, null."),
        ([("uid.contains", "1")], "uid is not text"),
        ([("uid.eq", "1_000")], "'1_000' is not a 64-bit integer"),
        ([("uid.eq", "9" * 19)], "is not a 64-bit integer"),
        ([("io_ratio.ge", "nan")], "'nan' is not a number"),
        ([("night.eq", "yesterday")], "'yesterday' is not a date: write it as 2026-11-01."),
        ([("start_at.le", "0001-01-01T00:00:00+14:00")], "is not a time"),
        ([("is_partial.eq", "yes")], "'yes' is neither true nor false"),
        ([("ranks.eq", "1")], "ranks is a list"),
        ([("limit", "0")], "A limit of 0 shows nothing"),
        ([("offset", "-1")], "The offset -1 is negative"),
        ([("order", "-nope")], "The view has no column 'nope'"),
        ([("sql", "SELECT 1")], "There is no parameter 'sql'"),
        ([("column", "user"), ("operator", "is"), ("value", "x")], "There is no operator 'is'"),
    ],
)
def test_what_makes_no_sense_is_reported_in_a_sentence(parameters: list[tuple[str, str]], reported: str) -> None:
    """A parameter that cannot be meant is turned away with what to write instead."""
    with pytest.raises(UsageError, match=re.escape(reported)):
        parse("logs", parameters, TYPES)


def test_condition_of_a_form_joins_those_of_the_address() -> None:
    """The form's three fields are one more condition; an empty column is none."""
    question = parse("logs", [("user.eq", "ada"), ("column", "uid"), ("operator", "ge"), ("value", "3")], TYPES)
    assert (Filter("user", "eq", "ada"), Filter("uid", "ge", 3)) == question.filters
    assert Question("logs") == parse("logs", [("column", ""), ("operator", "eq"), ("value", "")], TYPES)


@pytest.mark.parametrize("text", [*HOSTILE.values(), ""], ids=[*HOSTILE, "empty"])
def test_rows_of_a_name_are_those_that_have_it(facility: Facility, session: Session, text: str) -> None:
    """A name of any signs finds its rows, by itself, by a part of it, and in the SQL that is shown."""
    expected = sum(log["user"] == text for log in facility.logs)
    question = Question("logs", (equals("user", text),), ("user",))
    assert expected == session.count(question) == session.ask(question.rows(1000).text).num_rows
    part = Question("logs", (Filter("user", "contains", text[:5].upper()),))
    assert sum(text[:5].lower() in log["user"].lower() for log in facility.logs) == session.count(part)


@pytest.mark.parametrize("order", ["uid", "-uid", "-io_core_seconds"])
def test_order_has_what_is_not_known_last_and_no_ties(facility: Facility, session: Session, order: str) -> None:
    """Rows stand in the column's order and then in that of the columns that identify them."""
    column, sign = order.removeprefix("-"), -1 if order.startswith("-") else 1
    got = session.answer(Question("logs", (), (column, "log_id"), order).rows(1000)).to_pylist()
    known = sorted((sign * log[column], log["log_id"]) for log in facility.logs if log[column] is not None)
    unknown = sorted(log["log_id"] for log in facility.logs if log[column] is None)
    assert [*(log_id for _, log_id in known), *unknown] == [row["log_id"] for row in got]


def test_equal_rows_of_a_column_stand_in_the_order_of_the_next(facility: Facility, session: Session) -> None:
    """Each column has its own direction; all of them must be there."""
    got = session.answer(parse("findings", [("order", "code,-cost_core_seconds")], session.types("findings")).rows(1000))
    costs = [(row["code"], -(row["cost_core_seconds"] or 0)) for row in got.to_pylist()]
    assert sorted((each["code"], -(each["cost_core_seconds"] or 0)) for each in facility.findings) == costs
    with pytest.raises(UsageError, match="no_such"):
        parse("findings", [("order", "-night,no_such")], session.types("findings"))


def test_conditions_against_rows_picked_by_hand(facility: Facility, session: Session) -> None:
    """At least, at most, and not known, together."""
    night = dt.date(2024, 4, 6)
    filters = (Filter("night", "ge", night), Filter("nprocs", "le", 4), Filter("uid", "null", value=False))
    expected = {log["log_id"] for log in facility.logs if log["night"] >= night and log["nprocs"] <= 4 and log["uid"] is not None}
    assert expected == set(session.answer(Question("logs", filters).rows(1000))["log_id"].to_pylist())


@pytest.mark.parametrize("order", ["", "nprocs", "-night"])
@pytest.mark.parametrize("view", ["logs", "verdicts", "worst_offenders"])
def test_pages_together_are_the_whole(session: Session, view: str, order: str) -> None:
    """Pages share no row, lose none, and stand in the order of the whole; behind the last there is nothing."""
    columns = session.types(view)
    question = Question(view, order=order if order.removeprefix("-") in columns else "")
    whole = session.answer(question.rows(100_000)).to_pylist()
    pages = [session.answer(replace(question, offset=at).rows(7)).to_pylist() for at in range(0, len(whole) + 7, 7)]
    assert whole == [row for page in pages for row in page]
    assert len(whole) == session.count(question) > 7
    assert 0 == session.answer(replace(question, offset=2**63 - 1).rows(7)).num_rows


def test_own_order_of_a_view_ends_in_what_identifies_a_row() -> None:
    """So that its pages share no row, whatever order equal rows are found in."""
    ordered = {view.name: view for view in find_views() if view.schema == "main" and view.is_ordered}
    assert ordered
    orders = {name: re.search("^ORDER BY (.*)$", view.sql, re.MULTILINE) for name, view in ordered.items()}
    names = {name: set(re.findall(r"\w+", order[1])) for name, order in orders.items() if order}
    assert {} == {name: rest for name, view in ordered.items() if (rest := set(view.grain) - names[name])}
