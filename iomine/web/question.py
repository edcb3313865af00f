"""What a reader may ask: rows of a view that exists, by conditions on columns that it has.

Nothing that a reader sends becomes SQL. Names are looked up in the catalog's own dictionary, operators in a list, and values
become Python's before they are handed to DuckDB as parameters.
"""

# ruff: noqa: S608 - put together from names that were looked up

import datetime as dt
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from iomine.errors import UsageError, did_you_mean
from iomine.sqltext import literal, name_of
from iomine.views.model import View, find_views

Value = str | int | float | bool | dt.date | dt.datetime

_PARAMETER: Final = re.compile(r"\$(\w+)")
_SHORTEST_BIGINT, _LONGEST_BIGINT = -(2**63), 2**63 - 1
_TEXT: Final = "VARCHAR"
# Each takes the column and the parameter.
OPERATORS: Final[Mapping[str, str]] = {
    "eq": "{column} = {value}",
    "ge": "{column} >= {value}",
    "le": "{column} <= {value}",
    "contains": "contains(lower({column}), lower({value}))",
    "null": "({column} IS NULL) = {value}",
}


class UnknownNameError(UsageError):
    """A view, or a log, that is not there."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A query with its values apart.

    Attributes:
        sql: with `$1` and so on, or `$name`, in the values' places.
        values: what stands there, in this order or by name.
    """

    sql: str
    values: tuple[Value, ...] | Mapping[str, Value | None] = ()

    @property
    def text(self) -> str:
        """The same query with the values in it, to be pasted."""
        values = self.values if isinstance(self.values, Mapping) else {str(at): each for at, each in enumerate(self.values, 1)}
        return _PARAMETER.sub(lambda match: literal(values[match[1]]), self.sql)


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on a column.

    Attributes:
        column: its name.
        operator: one of `OPERATORS`.
        value: what the column is compared with; for `null` whether it is to be NULL.
    """

    column: str
    operator: str
    value: Value

    @property
    def parameter(self) -> tuple[str, str]:
        """As it stands in an address."""
        match self.value:
            case bool():
                return f"{self.column}.{self.operator}", str(self.value).lower()
            case dt.datetime():
                return f"{self.column}.{self.operator}", self.value.isoformat().replace("+00:00", "Z")
            case _:
                return f"{self.column}.{self.operator}", str(self.value)


def equals(column: str, value: Value | None) -> Filter:
    """The condition that a column has a value, or none."""
    return Filter(column, "null", value=True) if value is None else Filter(column, "eq", value)


@dataclass(frozen=True, slots=True)
class Question:
    """Rows of a view.

    Attributes:
        view: its name as queries use it.
        filters: conditions, all of which hold.
        columns: those to show, none for all.
        order: the columns to order by, with commas between them and a minus in front for the highest first; empty for the view's
            own order.
        limit: how many rows at most, None for as many as a page or a file holds.
        offset: how many rows come before them.
    """

    view: str
    filters: tuple[Filter, ...] = ()
    columns: tuple[str, ...] = ()
    order: str = ""
    limit: int | None = None
    offset: int = 0

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """As they stand in an address."""
        found = [each.parameter for each in self.filters]
        if self.columns:
            found.append(("columns", ",".join(self.columns)))
        if self.order:
            found.append(("order", self.order))
        if self.limit is not None:
            found.append(("limit", str(self.limit)))
        if self.offset:
            found.append(("offset", str(self.offset)))
        return found

    def rows(self, most: int) -> Statement:
        """The query for the rows, of which there are at most so many."""
        where, values = conditions(self.filters)
        columns = ", ".join(map(name_of, self.columns)) or "*"
        limit = most if self.limit is None else min(self.limit, most)
        parts = [f"SELECT {columns}", f"FROM {self._source}", *([f"WHERE {where}"] if where else []), *self._order()]
        return Statement("\n".join([*parts, f"LIMIT {limit:d}" + (f" OFFSET {self.offset:d}" if self.offset else "")]), values)

    def count(self) -> Statement:
        """The query for how many rows there are in all."""
        where, values = conditions(self.filters)
        return Statement(f"SELECT count(*) AS row_count FROM {self._source}" + (f" WHERE {where}" if where else ""), values)

    def narrowed(self, *filters: Filter) -> "Question":
        """The same rows under more conditions; none is said twice."""
        return replace(self, filters=tuple(dict.fromkeys(self.filters + filters)))

    @property
    def is_ordered(self) -> bool:
        """Whether the same rows come in the same order each time, so that they can be shown in pages."""
        view = _view(self.view)
        return bool(self.order) or (view is not None and (view.is_ordered or bool(view.grain)))

    @property
    def _source(self) -> str:
        return name_of(*self.view.split("."))

    def _order(self) -> Iterator[str]:
        view = _view(self.view)
        grain = view.grain if view else ()
        # So that the same question is answered with the same rows, and pages neither share a row nor lose one.
        if self.order:
            wanted = {each.removeprefix("-"): "DESC" if each.startswith("-") else "ASC" for each in self.order.split(",")}
            first = (f"{name_of(column)} {direction} NULLS LAST" for column, direction in wanted.items())
            rest = [name_of(each) for each in grain if each not in wanted] if grain else ["COLUMNS(*)"]
            yield f"ORDER BY {', '.join([*first, *rest])}"
        elif grain and view and not view.is_ordered:
            yield f"ORDER BY {', '.join(map(name_of, grain))}"


def _view(name: str) -> View | None:
    qualified = name if "." in name else f"main.{name}"
    return next((each for each in find_views() if each.qualified == qualified), None)


def conditions(filters: Iterable[Filter]) -> tuple[str, tuple[Value, ...]]:
    """Conditions as SQL, and the values of their parameters."""
    kept = list(filters)
    parts = [
        OPERATORS[each.operator].format(column=name_of(each.column), value=f"${number}") for number, each in enumerate(kept, 1)
    ]
    return " AND ".join(parts), tuple(each.value for each in kept)


def parse(view: str, parameters: Sequence[tuple[str, str]], columns: Mapping[str, str]) -> Question:
    """The question that an address asks.

    Args:
        view: a view that is there.
        parameters: `COLUMN.OPERATOR=VALUE`, `columns=A,B`, `order=-A,B`, `limit=N`, `offset=N`; and a condition from a
            form, as `column`, `operator` and `value`.
        columns: DuckDB's types of the view's columns.

    Raises:
        UsageError: a parameter makes no sense.
    """
    question, filters = Question(view), []
    form = dict.fromkeys(("column", "operator", "value"), "")
    for name, text in parameters:
        if name in form:
            form[name] = text
        elif "." in name:
            column, _, operator = name.rpartition(".")
            filters.append(_filter(column, operator, text, columns))
        elif name in _SETTERS:
            question = _SETTERS[name](question, text, columns)
        else:
            raise UsageError(f"There is no parameter {name!r}: write COLUMN.OPERATOR=VALUE, columns, order, limit or offset.")
    if form["column"]:
        filters.append(_filter(form["column"], form["operator"] or "eq", form["value"], columns))
    return question.narrowed(*filters)


def _with_columns(question: Question, text: str, columns: Mapping[str, str]) -> Question:
    names = tuple(dict.fromkeys(name for name in text.split(",") if name))
    return replace(question, columns=tuple(_column(name, columns) for name in names))


def _with_order(question: Question, text: str, columns: Mapping[str, str]) -> Question:
    for each in text.split(","):
        _column(each.removeprefix("-"), columns)
    return replace(question, order=text)


def _with_limit(question: Question, text: str, _columns: Mapping[str, str]) -> Question:
    limit = _whole(text)
    if limit < 1:
        raise UsageError(f"A limit of {limit} shows nothing: give 1 or more.")
    return replace(question, limit=limit)


def _with_offset(question: Question, text: str, _columns: Mapping[str, str]) -> Question:
    offset = _whole(text)
    if offset < 0:
        raise UsageError(f"The offset {offset} is negative: give 0 or more.")
    return replace(question, offset=offset)


_SETTERS: Final[dict[str, Callable[[Question, str, Mapping[str, str]], Question]]] = {
    "columns": _with_columns,
    "order": _with_order,
    "limit": _with_limit,
    "offset": _with_offset,
}


def _column(name: str, columns: Mapping[str, str]) -> str:
    if name not in columns:
        hint = did_you_mean(name[:100], columns) or f"it has {', '.join(list(columns)[:5])} and others."
        raise UsageError(f"The view has no column {name[:100]!r}: {hint}")
    return name


def _filter(column: str, operator: str, text: str, columns: Mapping[str, str]) -> Filter:
    kind = columns[_column(column, columns)]
    if operator not in OPERATORS:
        raise UsageError(f"There is no operator {operator[:100]!r}: take one of {', '.join(OPERATORS)}.")
    if operator == "null":
        return Filter(column, operator, _flag(text))
    if operator == "contains" and kind != _TEXT:
        raise UsageError(f"{column} is not text, so it cannot contain anything: take one of eq, ge, le, null.")
    if kind not in _VALUES:
        raise UsageError(f"{column} is a list and cannot be compared: use null only.")
    return Filter(column, operator, _VALUES[kind](text))


def _whole(text: str) -> int:
    # Python would take 1_000 too, and digits of other scripts, and count a million of them.
    if not re.fullmatch("-?[0-9]{1,19}", text) or not _SHORTEST_BIGINT <= int(text) <= _LONGEST_BIGINT:
        raise UsageError(f"{text[:100]!r} is not a 64-bit integer: write it in digits.")
    return int(text)


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"{text[:100]!r} is not a number: write it as 1500 or 1.5e3.")
    return number


def _flag(text: str) -> bool:
    if text not in {"true", "false"}:
        raise UsageError(f"{text[:100]!r} is neither true nor false: write one of them.")
    return text == "true"


def date_of(text: str) -> dt.date:
    """A date as it stands in an address.

    Raises:
        UsageError: it is none.
    """
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text[:100]!r} is not a date: write it as 2026-11-01.") from None


def _time(text: str) -> dt.datetime:
    try:
        at = dt.datetime.fromisoformat(text)
        return at.replace(tzinfo=dt.UTC) if at.tzinfo is None else at.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        raise UsageError(f"{text[:100]!r} is not a time: write it as 2026-11-01T12:00:00Z.") from None


_VALUES: Final[dict[str, Callable[[str], Value]]] = {
    _TEXT: str,
    "BIGINT": _whole,
    "DOUBLE": _number,
    "BOOLEAN": _flag,
    "DATE": date_of,
    "TIMESTAMP WITH TIME ZONE": _time,
}
