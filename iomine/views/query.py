"""Answers queries over a catalog, on connections that can only read, and only the warehouse."""

import os
import tempfile
import uuid
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb

from iomine.errors import IomineError, LimitError, UsageError, WarehouseError
from iomine.schema_version import UNSAID, mismatch
from iomine.sqltext import quoted
from iomine.units import bytes_of, human_bytes, human_seconds
from iomine.views.answers import Rows, number
from iomine.views.questions import Parameters

if TYPE_CHECKING:
    import pyarrow as pa

_ONE_QUESTION: Final = (
    "Ask one question at a time, a SELECT, DESCRIBE, SHOW or SUMMARIZE (or a PIVOT that lists its values with IN): "
    "the warehouse can only be read."
)
_LESS_OR_MORE_MEMORY: Final = "ask for fewer nights or columns, or give it more with --memory."
_LESS_OR_MORE_TIME: Final = "ask for fewer nights, or give it longer with --timeout."

# Keys of a catalog's table `_meta`: the directory that all its files lie in, and the version of the schema.
LAKE_DIRECTORY: Final = "lake_directory"
VERSION_KEY: Final = "schema_version"

# Types of the variables that views ask for.
Variable = float | str | Sequence[int]

# Other people work on a login node too.
_MOST_THREADS: Final = 8
# Rows in a batch of a streamed answer; as many as DuckDB puts into a row group.
_BATCH_ROWS: Final = 122_880


@dataclass(frozen=True, slots=True)
class Limits:
    """What each query of a connection may take.

    Attributes:
        seconds: until its answer is there, None for as long as it takes.
        memory_bytes: while it is worked out, as much on disk, and again for its answer; None for DuckDB's own (80% of the
            machine).
        threads: None for one per core.
    """

    seconds: float | None = None
    memory_bytes: int | None = None
    threads: int | None = None


# Another may add up floats in another order.
ENGINE_VERSION: Final = duckdb.__version__
NO_LIMITS: Final = Limits()


def limits_for_people(seconds: float, memory: str) -> Limits:
    """Limits for people who ask on a machine where others work too.

    Args:
        seconds: 0 for as long as it takes.
        memory: such as `512MB` or `4GiB`.

    Raises:
        ValueError: the memory is no number of bytes.
    """
    return Limits(seconds or None, bytes_of(memory), min(_MOST_THREADS, len(os.sched_getaffinity(0))))


def open_catalog(
    database: Path, limits: Limits = NO_LIMITS, folder: Path | None = None, *, is_copy: bool = False
) -> duckdb.DuckDBPyConnection:
    """A connection that can only read: the catalog, and the Parquet files in the directory of the lake.

    DuckDB itself refuses everything outside. Within the lake's directory it would still let COPY write, so people's
    queries go through `answer`, which admits none.

    Args:
        database: the catalog, as `build_catalog` wrote it.
        limits: for all queries.
        folder: the catalog's own, where the file is a copy that lies elsewhere.
        is_copy: whether it is a copy for this connection alone, which may then change it.

    Raises:
        WarehouseError: the catalog is missing or is not one, or is of another schema version.
        LimitError: even that takes more than it may.
        UsageError: DuckDB refuses a limit.
    """
    if not database.is_file():
        raise WarehouseError(
            f"There is no warehouse at {database.parent}: run `iomine sweep` first, or name another with --warehouse."
        )
    if not os.access(database, os.R_OK):
        raise WarehouseError(f"{database} cannot be opened: ask its owner for permission.")
    folder = folder or database.absolute().parent
    con = engine(limits)
    try:
        # Attached, not connected to: DuckDB hands a second connection in the same process the file that it already has
        # open under that name, which after a sweep is the old one.
        con.execute(f"ATTACH {quoted(str(database))} AS iomine{'' if is_copy else ' (READ_ONLY)'}")
        con.execute("USE iomine")
        _check_version(con, folder)
        _lock_down(con, folder)
    except WarehouseError:
        con.close()
        raise
    except duckdb.CatalogException as error:
        con.close()
        raise WarehouseError(f"{database} is not a catalog of iomine: run `iomine sweep` to build it again.") from error
    except (duckdb.OutOfMemoryException, duckdb.InterruptException) as error:
        con.close()
        raise _failure(error, limits) from error
    except duckdb.Error as error:
        con.close()
        raise WarehouseError(f"{database} cannot be opened; run `iomine sweep` to build it again. {_one_line(error)}") from error
    return con


def answer(
    con: duckdb.DuckDBPyConnection, sql: str, parameters: Parameters | None = None, limits: Limits = NO_LIMITS
) -> "pa.Table":
    """The answer to one query, which cannot change or write anything.

    Args:
        con: from `open_catalog`.
        sql: one query; a semicolon at its end is left out.
        parameters: values for the query's `$name`, or `?` or `$1`.
        limits: those of the connection.

    Raises:
        UsageError: DuckDB cannot make sense of it, or it is not a query.
        LimitError: it takes more than it may.
        WarehouseError: a file of the lake is missing.
    """
    with failures_named(limits):
        asked = relation(con, sql, parameters)
        return asked.to_arrow_table() if limits.memory_bytes is None else _bounded(asked, limits.memory_bytes)


def relation(con: duckdb.DuckDBPyConnection, sql: str, parameters: Parameters | None = None) -> duckdb.DuckDBPyRelation:
    """One query, which cannot change or write anything, before it is worked out.

    Args:
        con: from `open_catalog`.
        sql: one query; a semicolon at its end is left out.
        parameters: values for the query's `$name`, or `?` or `$1`.

    Raises:
        UsageError: it is not a query.
        duckdb.Error: DuckDB cannot make sense of it; `failures_named` says it in our words.
    """
    statements = con.extract_statements(sql)
    # A PIVOT without values is several statements to DuckDB, and the first of them may write.
    if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
        raise UsageError(_ONE_QUESTION)
    # The type alone is no guard: `WITH x AS (COPY …) SELECT …` is a SELECT, and writes. Within FROM nothing can.
    inner = statements[0].query.rstrip("; \t\r\n")
    return con.sql(f"FROM (\n{inner}\n)", params=parameters)


def answer_own(con: duckdb.DuckDBPyConnection, sql: str, parameters: Parameters | None = None) -> "pa.Table":
    """The answer to one query of the program's own, which needs no guard.

    DuckDB plans it once. For `answer` it does so twice, the first time for the names of columns; of small nights that takes a
    third of the time of all queries.

    Args:
        con: from `passing_views` or `open_catalog`.
        sql: one query.
        parameters: as for `answer`.

    Raises:
        UsageError, LimitError, WarehouseError: as for `answer`.
    """
    with failures_named(), warnings.catch_warnings():
        # DuckDB warns that Arrow copies the rows once more, which takes less than to plan again.
        warnings.simplefilter("ignore", UserWarning)
        return con.execute(sql, parameters).to_arrow_table()


def rows_own(con: duckdb.DuckDBPyConnection, sql: str, parameters: Parameters | None = None) -> Rows:
    """The rows that answer one query of the program's own: `rows_of` the answer, for which pyarrow is not loaded.

    Args:
        con: from `open_catalog`.
        sql: one query, of which no column holds anything but texts, numbers, times, and lists of these.
        parameters: as for `answer`.

    Raises:
        UsageError, LimitError, WarehouseError: as for `answer`.
    """
    with failures_named():
        asked = con.execute(sql, parameters)
        names = [name for name, *_ in asked.description]
        return [dict(zip(names, map(_plain, row), strict=True)) for row in asked.fetchall()]


def _plain(value: Any) -> Any:  # noqa: ANN401  of any column
    return number(value) if isinstance(value, float) else value


def ask(
    database: Path,
    sql: str,
    parameters: Parameters | None = None,
    variables: Mapping[str, float] | None = None,
) -> "pa.Table":
    """The answer to one query over a catalog, on a connection of its own.

    Args:
        database: the catalog.
        sql: one query.
        parameters: values for the query's `$name`, or `?` or `$1`.
        variables: values for the variables that views ask for with `getvariable`.

    Raises:
        UsageError: DuckDB cannot make sense of it, or it is not a query.
        WarehouseError: the catalog is missing or is not one, or a file of the lake is missing.
    """
    with open_catalog(database) as con:
        set_variables(con, variables or {})
        return answer(con, sql, parameters)


def set_variables(con: duckdb.DuckDBPyConnection, variables: Mapping[str, Variable]) -> None:
    """Gives the variables that views ask for with `getvariable` these values, for all queries that follow.

    Args:
        con: from `open_catalog`.
        variables: values by name, which is one of ours.
    """
    for name, value in variables.items():
        con.execute(f"SET VARIABLE {name} = $1", [value])


def _bounded(asked: duckdb.DuckDBPyRelation, most_bytes: int) -> "pa.Table":
    """The answer, unless it is larger than that: DuckDB counts what it works with, and not what it hands over."""
    import pyarrow as pa  # noqa: PLC0415  few answers have such a limit

    batches = []
    held = 0
    # While somebody holds the error, its connection would answer nothing else if the reader were left open.
    with asked.to_arrow_reader(_BATCH_ROWS) as reader:
        for batch in reader:
            held += batch.nbytes
            if held > most_bytes:
                raise LimitError(f"The answer is larger than {human_bytes(most_bytes)}: {_LESS_OR_MORE_MEMORY}")
            batches.append(batch)
        return pa.Table.from_batches(batches, reader.schema)


@contextmanager
def failures_named(limits: Limits = NO_LIMITS) -> Iterator[None]:
    """Raises DuckDB's errors as this program's.

    Args:
        limits: those of the connection.

    Raises:
        UsageError, LimitError, WarehouseError: as for `answer`.
    """
    try:
        yield
    # What fails while an answer is streamed comes from Arrow as an OSError, with DuckDB's words.
    except (duckdb.Error, OSError, MemoryError) as error:
        raise _failure(error, limits) from error


def out_of_time(seconds: float) -> LimitError:
    """The error of a query that takes longer than its limit of seconds."""
    return LimitError(f"The query was stopped after {human_seconds(seconds)}: {_LESS_OR_MORE_TIME}")


def _failure(error: Exception, limits: Limits) -> IomineError:
    """DuckDB's error as one of this program's."""
    message = str(error)
    if isinstance(error, MemoryError) or message.startswith("Out of Memory Error"):
        most = "there is" if limits.memory_bytes is None else human_bytes(limits.memory_bytes)
        return LimitError(f"The query needs more memory than {most}: {_LESS_OR_MORE_MEMORY}")
    if message.startswith("INTERRUPT Error") and limits.seconds is not None:
        return out_of_time(limits.seconds)
    if message.startswith("IO Error"):
        return WarehouseError(f"The warehouse's files cannot be read; `iomine doctor` says more. {_one_line(error)}")
    return UsageError(_one_line(error))


def engine(limits: Limits = NO_LIMITS) -> duckdb.DuckDBPyConnection:
    """A connection to no catalog yet, set alike wherever it is opened.

    Args:
        limits: for all queries.

    Raises:
        UsageError: DuckDB refuses a limit.
    """
    con = duckdb.connect(
        config={
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            # A name in a query must never mean a variable of the program that asks.
            "python_enable_replacements": False,
            # DuckDB's own choice lies in the working directory, where readers may not write and would meet each other.
            "temp_directory": str(Path(tempfile.gettempdir()) / f"iomine-{uuid.uuid4().hex}"),
        }
    )
    try:
        # Stored as text, times carry a zone: shown in the machine's own, the same query would differ from host to host.
        con.execute("SET TimeZone = 'UTC'")
        # A bar would be drawn into the answer. In Jupyter without ipywidgets DuckDB refuses this setting, since there is none.
        with suppress(duckdb.InvalidInputException):
            con.execute("SET enable_progress_bar = false")
        # This optimizer's time grows with the square of the plan: it took 1.4 s of the 4 s of `cost_claim` over 15 logs.
        con.execute("SET disabled_optimizers = 'projection_pullup'")
        if limits.memory_bytes is not None:
            con.execute(f"SET memory_limit = '{limits.memory_bytes:d} B'")
            con.execute(f"SET max_temp_directory_size = '{limits.memory_bytes:d} B'")
        if limits.threads is not None:
            con.execute(f"SET threads = {limits.threads:d}")
        if limits.seconds is not None:
            con.execute(f"SET max_execution_time = {limits.seconds * 1000:.0f}")
    except duckdb.Error as error:
        con.close()
        raise UsageError(_one_line(error)) from error
    return con


def _check_version(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    said = con.execute("SELECT value FROM _meta WHERE key = ?", [VERSION_KEY]).fetchone()
    if fault := mismatch(folder, int(said[0]) if said else UNSAID):
        raise WarehouseError(fault)


def _lock_down(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    # A catalog that moves with its files names them from its own folder, and DuckDB checks both forms of their paths.
    con.execute(f"SET file_search_path = {quoted(str(folder))}")
    rows = con.execute("SELECT value FROM _meta WHERE key = ?", [LAKE_DIRECTORY]).fetchall()
    allowed = dict.fromkeys(form for (value,) in rows for form in (value, str(folder / value)))
    con.execute(f"SET allowed_directories = [{', '.join(map(quoted, allowed))}]")
    con.execute("SET enable_external_access = false")
    con.execute("SET lock_configuration = true")


def _one_line(error: Exception) -> str:
    """DuckDB's message without the excerpt of the query, whose line numbers would not be the asker's."""
    message = str(error).partition("\n\nLINE ")[0]
    return " ".join(message.split())
