"""Every case under tests/cases, and that every view has one."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from rows_in import BY_NAME, beside_a_doubtful_owner, columns_of, stage

from iomine.schema import TABLES, field
from iomine.sqltypes import duckdb_type
from iomine.views.model import View, find_views

CASES: Final = Path(__file__).parents[2] / "cases"
# What machines did, however it came about, and what has a row for each of a log's.
_OF_ANY_OWNER: Final = {
    "core.newest_night",
    "core.segment",
    "feature.darshan_build",
    "feature.traffic_slot",
    "main.coverage",
    "main.segments",
}
VIEWS: Final = {view.name if view.schema == "main" else f"{view.schema}_{view.name}": view for view in find_views()}


@dataclass(frozen=True)
class ViewCase:
    """One file under tests/cases: rows in, exact rows out; a key left out is NULL on both sides."""

    view: View
    name: str
    why: str
    given: dict[str, list[dict[str, Any]]]
    expect: list[dict[str, Any]]
    is_ordered: bool

    def __str__(self) -> str:
        """The name that pytest shows."""
        return f"{self.view.name}-{self.name}"


@cache
def load_cases() -> list[ViewCase]:
    return [_load(path) for path in sorted(CASES.glob("*/*.toml"))]


def _load(path: Path) -> ViewCase:
    case = tomllib.loads(path.read_text(encoding="utf-8"))
    view = VIEWS[path.parent.name]
    given = case.pop("given", {})
    is_ordered = case.pop("ordered", False)
    return ViewCase(view, path.stem, given=given, is_ordered=is_ordered, **case)


@pytest.mark.parametrize("case", load_cases(), ids=str)
def test_view_answers_its_case(case: ViewCase):
    """A view gives exactly the rows that its case expects, in the types that its fields declare."""
    with stage(case.view, case.given) as con:
        answer = con.sql(case.view.sql)
        types = dict(zip(answer.columns, map(str, answer.types), strict=True))
        assert {column: duckdb_type(field(column).type) for column in types} == types
        got = [dict(zip(types, row, strict=True)) for row in answer.fetchall()]
    expected = [dict.fromkeys(types) | row for row in case.expect]
    if not case.is_ordered:
        expected, got = sorted(expected, key=repr), sorted(got, key=repr)
    assert case.why
    assert expected == got


@pytest.mark.parametrize(
    "case",
    [case for case in load_cases() if "log_id" not in case.view.grain and case.view.qualified not in _OF_ANY_OWNER],
    ids=str,
)
def test_what_sums_up_logs_leaves_out_those_of_doubtful_owners(case: ViewCase):
    """A log that its owner may not have written changes no ranking, no sum and nothing that is usual."""

    def answered(given: dict[str, list[dict[str, Any]]]) -> list[str]:
        with stage(case.view, given) as con:
            return sorted(map(repr, con.sql(case.view.sql).fetchall()))

    for without, doubted in beside_a_doubtful_owner(case.view, case.given):
        assert answered(without) == answered(doubted)


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_that_does_something_has_a_case(name: str):
    """A view is tested unless all it does is to hand on a table."""
    assert VIEWS[name].path.startswith("table ") or any(case.view is VIEWS[name] for case in load_cases())


@pytest.mark.parametrize("name", [f"core.{table}" for table in TABLES])
def test_every_table_has_a_core_view_with_all_its_columns(name: str):
    """Nothing that the lake holds is lost on the way through core."""
    view = BY_NAME[name]
    table = TABLES[view.name]
    assert set() == set(table.partition_keys + table.columns) - set(columns_of(view))


@pytest.mark.parametrize("name", [f"core.{table}" for table in TABLES])
def test_core_has_the_grain_of_its_table(name: str):
    """The grain of a core view that has a file is that of its table."""
    assert TABLES[BY_NAME[name].name].grain == BY_NAME[name].grain


@pytest.mark.parametrize("name", VIEWS)
def test_a_file_says_more_than_the_table(name: str):
    """What only hands on a table of its name is made from the schema, and has no file."""
    view = VIEWS[name]
    hands_on = view.sql in {f"SELECT *\nFROM {schema}.{view.name}" for schema in ("lake", "core")}
    assert hands_on == view.path.startswith("table ")


@pytest.mark.parametrize("view", find_views(), ids=lambda view: view.qualified)
def test_reads_is_what_the_query_names(view: View):
    """The header's reads are the relations of the query, no more and no fewer."""
    # `recurring` is DuckDB's name for all rows of a query that reads itself.
    named = re.findall(r"(?:FROM|JOIN) (?!recurring\.)(\w+\.\w+)", view.sql)
    assert set(view.reads) == set(named)
    assert len(view.reads) == len(set(view.reads))


@pytest.mark.parametrize("view", find_views(), ids=lambda view: view.qualified)
def test_grain_is_among_the_columns(view: View):
    """The columns that identify a row are columns of the view."""
    assert set() == set(view.grain) - set(columns_of(view))


@pytest.mark.parametrize("view", [view for view in find_views() if view.schema == "feature"], ids=lambda view: view.name)
def test_features_are_what_the_lake_keeps(view: View):
    """What is worked out of a log to judge it has the columns of the table that keeps it."""
    table = TABLES[view.name]
    assert set(table.partition_keys + table.columns) == set(columns_of(view))
