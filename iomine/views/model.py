"""What a view is, and how the views under `sql/` are found and put in order."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.resources.abc import Traversable
from typing import Final

from iomine.schema import TABLES, Table
from iomine.sqltext import quoted
from iomine.views.texts import ViewError, parsed_text, sql_folder

# Stored instead of a table's name if a log could not be judged.
JUDGING: Final = "verdict"
_FAILURES: Final = "core.failed_derivation"
_DOUBTS: Final = "core.data_quality"
# A clock that was set back within a call makes a time negative, and spoils no other.
_HARMLESS: Final = "set back"
# Tables that hold sums of counters, under the names of these.
_OF_COUNTERS: Final = frozenset(
    ("rank_io", "phase", "file_phase", "ost_io", "ost_pace", "rank_ost", "mpiio_posix", "phase_class", "coalescing")
)
_RECORD: Final = ("log_id", "file_id", "rank")
_WORD: Final = re.compile(r"\w+")
# Queries within a query are indented.
_ORDERS: Final = re.compile("^ORDER BY ", re.MULTILINE)
_SAYS_COMPLETE: Final = re.compile(r"\bAS is_complete\b")
HEADER: Final = ("about", "grain", "reads")
# Folder under sql/ and the schema that its views go to.
SCHEMAS: Final = {"core": "core", "out": "main", "features": "feature"}
# Tables that a catalog brings along, because what they hold is code and not data of the lake.
REFERENCE_TABLES: Final = {
    "triggers": ("ruleset", "code", "level", "title", "view_name", "needs", "trigger_version"),
}


@dataclass(frozen=True, slots=True)
class View:
    """One file under `sql/`, or a table of the lake handed on as it is.

    Attributes:
        name: the view's name, which is the file's or the table's.
        schema: `core`, `main` or `feature`.
        about: one sentence for the data dictionary.
        grain: the columns that identify a row, empty where rows may be equal.
        reads: what the query reads, each with its schema.
        sql: the query, without the header.
        path: the file below `sql/`, or the table, for messages.
    """

    name: str
    schema: str
    about: str
    grain: tuple[str, ...]
    reads: tuple[str, ...]
    sql: str
    path: str

    @property
    def qualified(self) -> str:
        """The name with its schema."""
        return f"{self.schema}.{self.name}"

    @property
    def is_ordered(self) -> bool:
        """Whether its rows have an order of their own, which ends in the columns that identify a row."""
        return _ORDERS.search(self.sql) is not None


def find_views(root: Traversable | None = None) -> tuple[View, ...]:
    """All views, each after those that it reads.

    Args:
        root: a folder that holds `core` and `out`, None for the package's own views: those under `sql/`, and tables that no
            file says more of.

    Raises:
        ViewError: a header is wrong, a view reads what is not there, or views read each other in a circle.
    """
    return _package_views() if root is None else _ordered(_parsed(root))


def needed_views(wanted: Collection[str]) -> tuple[View, ...]:
    """The package's views of these names, with their schemas, and those that they read, each after those that it reads."""
    names = set(wanted)
    needed = []
    for view in reversed(find_views()):
        if view.qualified in names:
            names.update(view.reads)
            needed.append(view)
    return tuple(reversed(needed))


def tables_read(wanted: Collection[str]) -> set[str]:
    """The lake's tables that the package's views of these names read, themselves or by others."""
    return {
        name for view in needed_views(wanted) for schema, name in (each.split(".") for each in view.reads) if schema == "lake"
    }


def shared_views(wanted: Collection[str], made: Collection[str] = ()) -> list[View]:
    """The views that several of these read, themselves or by others, each after those that it reads.

    Args:
        wanted: views by their names, with their schemas.
        made: tables of the lake that are not there yet. What reads them is left out.

    Returns:
        Views with a query of their own, not tables that are handed on as they are.
    """
    needed = needed_views(wanted)
    readers = Counter(read for view in needed for read in view.reads)
    missing = {f"lake.{table}" for table in made}
    shared = []
    for view in needed:
        if missing.intersection(view.reads):
            missing.add(view.qualified)
        elif readers[view.qualified] > 1 and view.reads != (f"lake.{view.name}",):
            shared.append(view)
    return shared


@cache
def _package_views() -> tuple[View, ...]:
    written = _parsed(sql_folder())
    names = {view.qualified for view in written}
    views = [*written, *(view for view in _passed_on(TABLES.values()) if view.qualified not in names)]
    return _ordered(sorted(views, key=lambda view: (list(SCHEMAS.values()).index(view.schema), view.name)))


def _passed_on(tables: Iterable[Table]) -> Iterator[View]:
    """Each table as it is in `core`, and those that people ask for in `main` too."""
    for table in tables:
        yield _as_it_is(table, "core", f"lake.{table.name}")
        if table.for_people:
            yield _as_it_is(table, "main", f"core.{table.name}")


def _as_it_is(table: Table, schema: str, read: str) -> View:
    return View(table.name, schema, table.about, table.grain, (read,), f"SELECT *\nFROM {read}", f"table {table.name}")


def _parsed(root: Traversable) -> list[View]:
    return [
        _parse(entry, folder)
        for folder in SCHEMAS
        for entry in sorted((root / folder).iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".sql")
    ]


def _parse(entry: Traversable, folder: str) -> View:
    path = f"{folder}/{entry.name}"
    header, sql = parsed_text(entry.read_text(encoding="utf-8"), path, HEADER)
    return View(
        name=entry.name.removesuffix(".sql"),
        schema=SCHEMAS[folder],
        about=header["about"],
        grain=tuple(header["grain"]),
        reads=tuple(header["reads"]),
        sql=sql,
        path=path,
    )


def _ordered(views: Iterable[View]) -> tuple[View, ...]:
    by_name = {view.qualified: view for view in views}
    given = {f"lake.{name}" for name in TABLES} | {f"main.{name}" for name in REFERENCE_TABLES}
    for view in by_name.values():
        if unknown := sorted(set(view.reads) - by_name.keys() - given):
            raise ViewError(f"{view.path} reads {', '.join(unknown)}, which is neither a view nor a table.")
    guarded = {_FAILURES, _DOUBTS} & by_name.keys()
    sorter = TopologicalSorter(
        {
            name: [read for read in view.reads if read in by_name] + [each for each in guarded if view.schema == "feature"]
            for name, view in by_name.items()
        }
    )
    try:
        order = tuple(sorter.static_order())
    except CycleError as error:
        raise ViewError(f"Views read each other in a circle: {', '.join(error.args[1])}.") from error
    tables: dict[str, frozenset[str]] = {}
    words: dict[str, frozenset[str]] = {}
    for name in order:
        view = by_name[name]
        of_views = (tables.get(read, frozenset({read.removeprefix("lake.")})) for read in view.reads)
        tables[name] = frozenset().union(*of_views)
        words[name] = frozenset(_WORD.findall(view.sql)).union(*(words.get(read, ()) for read in view.reads))
    return tuple(_doubting(by_name[name], _beneath(tables[name], tables), words[name]) for name in order)


def _beneath(names: frozenset[str], tables: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The tables of these names; for tables of features also the tables that they were worked out from."""
    more = names.union(*(tables.get(f"feature.{name}", ()) for name in names))
    return names if more == names else _beneath(more, tables)


def _doubting(view: View, tables: Collection[str], words: Collection[str]) -> View:
    """A view of features in which a log is incomplete if one of the tables could not be worked out for it, or holds doubts.

    What failed, and which columns matter, follows from what the view reads and names, so no view has to say it.
    """
    if view.schema != "feature" or not _SAYS_COMPLETE.search(view.sql):
        return view
    failed = _listed({*tables, JUDGING})
    records = (
        {name for name, table in TABLES.items() if table.columns[:3] == _RECORD} if _OF_COUNTERS.intersection(tables) else ()
    )
    held = {*tables, *records, "log"}.intersection(TABLES)
    named = {column for name in held for column in TABLES[name].columns}.intersection(words)
    doubted = (
        f"SELECT log_id FROM {_DOUBTS} WHERE table_name IN ({_listed(held)}) "  # noqa: S608
        f"AND column_name IN ({_listed(named)}) AND doubt_check <> {quoted(_HARMLESS)}"
    )
    sql = (
        f"SELECT * REPLACE (is_complete AND log_id NOT IN (SELECT log_id FROM {_FAILURES} WHERE derivation IN ({failed})) "  # noqa: S608
        f"AND log_id NOT IN ({doubted}) AS is_complete)\nFROM (\n{view.sql}\n)"
    )
    return replace(view, reads=tuple(dict.fromkeys((*view.reads, _FAILURES, _DOUBTS))), sql=sql)


def _listed(names: Collection[str]) -> str:
    return ", ".join(quoted(name) for name in sorted(names))
