"""The published views of a warehouse in the hands of a program or a notebook."""

from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

import pyarrow as pa

from iomine.errors import UsageError
from iomine.views.query import Limits, answer, failures_named, open_catalog, relation
from iomine.views.questions import Parameters

if TYPE_CHECKING:
    import duckdb

_NAMES: Final = "SELECT table_name FROM view_dictionary WHERE NOT contains(table_name, '.') ORDER BY table_name"


class PublishedViews:
    """The views that the last sweep published, to be asked in SQL; `iomine.open` gives one.

    It answers from the nights that were there when it was opened, also after the next sweep; open it again for those. A query is
    what `iomine sql` takes: one SELECT, or what reads as one, which can write nothing and open nothing but the warehouse.
    Use it in one thread at a time, and as a context manager or with `close`.

    Args:
        database: the file of views.
        limits: for each query.

    Raises:
        WarehouseError: there is no warehouse, or it cannot be read.
    """

    def __init__(self, database: Path, limits: Limits) -> None:
        self._database = database
        self._limits = limits
        self._con = open_catalog(database, limits)

    @property
    def names(self) -> list[str]:
        """The views for people; the table `data_dictionary` says what their columns mean, and in which unit."""
        return list(self.arrow(_NAMES)["table_name"].to_pylist())

    def relation(self, sql: str, parameters: Parameters | None = None) -> "duckdb.DuckDBPyRelation":
        """The query as a relation of DuckDB, worked out when its rows are asked for.

        The limit on the answer's own size does not hold here, since DuckDB hands over the rows; and what goes wrong with them is
        DuckDB's own exception. The relation's methods that write files are not a query's: DuckDB refuses them outside the lake's
        folder, and there the modes of files decide.

        Args:
            sql: one query.
            parameters: values for the query's `$name`, or `?` or `$1`.

        Raises:
            UsageError: it is not a query, or makes no sense.
            WarehouseError: a file of the lake is missing.
        """
        with failures_named(self._limits):
            return relation(self._con, sql, parameters)

    def arrow(self, sql: str, parameters: Parameters | None = None) -> pa.Table:
        """The answer as a table of Arrow.

        Args:
            sql: one query.
            parameters: values for the query's `$name`, or `?` or `$1`.

        Raises:
            UsageError: it is not a query, or makes no sense.
            LimitError: it takes more time or memory than it may.
            WarehouseError: a file of the lake is missing.
        """
        return answer(self._con, sql, parameters, self._limits)

    def pandas(self, sql: str, parameters: Parameters | None = None) -> Any:  # noqa: ANN401  pandas is loaded for who asks
        """The answer as a frame of pandas; arguments and errors as for `arrow`, and UsageError where pandas is missing."""
        _needed("pandas")
        return self.arrow(sql, parameters).to_pandas()

    def polars(self, sql: str, parameters: Parameters | None = None) -> Any:  # noqa: ANN401  polars is loaded for who asks
        """The answer as a frame of Polars; arguments and errors as for `arrow`, and UsageError where polars is missing."""
        return _needed("polars").from_arrow(self.arrow(sql, parameters))

    def close(self) -> None:
        """Lets go of the warehouse's files."""
        self._con.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<views of {self._database.parent}>"


def _needed(package: str) -> Any:  # noqa: ANN401  any package
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        raise UsageError(f"The package {package} is missing: pip install {package}.") from error
