"""Views over files that no sweep has committed yet."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import pyarrow as pa

from iomine.lake import LakeFile
from iomine.pipeline.judging.spans import Span
from iomine.schema.registry import arrow_schema
from iomine.sqltypes import duckdb_type
from iomine.units import MIB
from iomine.views.model import shared_views, tables_read
from iomine.views.passing import Connection, hold, hold_files, hold_made, passing_views
from iomine.views.query import Variable, answer_own, set_variables
from iomine.views.site import SiteView, ours_beneath

# Limits for what is held in memory, in bytes too, since rows of heat maps are long.
_HELD_ROWS: Final = 122_880
_HELD_BYTES: Final = 16 * MIB


class UncommittedViews:
    """Views over some files and no others; `views_over` gives them.

    Args:
        con: to the views.
        held: files small enough to be read once and held in memory, None if they are larger.
    """

    def __init__(self, con: Connection, held: Mapping[str, Sequence[str]] | None) -> None:
        self._con = con
        self._held = held
        self._edges: tuple[str, str] | None = None

    def ask(self, sql: str, span: Span) -> pa.Table:
        """The answer to one query, as if there were no logs but those of a span's ids."""
        self._keep_to(span)
        return answer_own(self._con, sql)

    def make(self, table: str, span: Span) -> pa.Table:
        """Works out the features of a span, and shows them as rows of their table of the lake, which had none.

        NaN becomes NULL, which means unknown: NaN would be beyond every threshold, and is in no file's statistics.

        Returns:
            These rows, with `cluster` and `night`, in any order.
        """
        self._keep_to(span)
        columns = ", ".join(map(_column, arrow_schema(table, with_partition_keys=True)))
        hold_made(self._con, table, f"SELECT {columns} FROM feature.{table}")  # noqa: S608  names of ours
        return answer_own(self._con, f"FROM lake.{table}")

    def hold(self, name: str, rows: pa.Table) -> None:
        """Shows rows as a table of the connection's own, replacing earlier ones of that name."""
        self._con.register(name, rows)

    def hold_shared(self, views: Collection[str], span: Span, made: Collection[str]) -> None:
        """Works out once what several views read, for a span that all later questions are about.

        Args:
            views: what will be asked, each with its schema.
            span: the logs.
            made: tables that will only be made.
        """
        self._keep_to(span)
        hold(self._con, shared_views(views, made))

    def _keep_to(self, span: Span) -> None:
        # DuckDB adds up all files of a night before it looks at whose they are, so it is shown the rows of the span only.
        if span.edges == self._edges:
            return
        if self._edges is not None and self._held is not None:
            raise ValueError("Rows are held of one part of a night: open views over its files for another.")
        self._edges = first, end = span.edges
        set_variables(self._con, {"first_log_id": first, "end_log_id": end})
        hold_files(self._con, self._held or {})


@contextmanager
def views_over(
    files: Iterable[LakeFile],
    views: Collection[str],
    variables: Mapping[str, Variable] | None = None,
    *,
    site: Sequence[SiteView] = (),
    seconds: float | None = None,
    memory_bytes: int | None = None,
) -> Iterator[UncommittedViews]:
    """Views over these files and no others.

    Args:
        files: of the lake, or written by this sweep. Those of tables that the views do not read are left out.
        views: what will be asked, each with its schema.
        variables: values for the variables that views ask for.
        site: views of the site that these read, in order.
        seconds: that a query may take, None for as long as it takes.
        memory_bytes: that all queries may take together; what is above goes to disk. None for DuckDB's own.
    """
    tables = tables_read(ours_beneath(views, site))
    shown = [file for file in files if file.table in tables]
    is_held = sum(file.row_count for file in shown) <= _HELD_ROWS and sum(file.size_bytes for file in shown) <= _HELD_BYTES
    paths = _paths(shown)
    with passing_views({} if is_held else paths, variables, site=site, seconds=seconds, memory_bytes=memory_bytes) as con:
        yield UncommittedViews(con, paths if is_held else None)


def _column(field: pa.Field) -> str:
    value = f"{field.name}::{duckdb_type(field.type)}"
    if pa.types.is_floating(field.type):
        value = f"nullif({value}, 'NaN')"
    return f"{value} AS {field.name}"


def _paths(files: Iterable[LakeFile]) -> dict[str, list[str]]:
    paths: dict[str, list[str]] = defaultdict(list)
    for file in files:
        paths[file.table].append(str(file.path))
    return paths
