"""Questions that Ctrl-C can break off."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Final

import pyarrow as pa

from iomine.views.query import NO_LIMITS, Limits, answer, open_catalog, set_variables
from iomine.views.questions import Parameters

_PATIENCE_SECONDS: Final = 0.1


def ask(
    database: Path,
    sql: str,
    parameters: Parameters | None = None,
    limits: Limits = NO_LIMITS,
    variables: Mapping[str, float | str] | None = None,
) -> pa.Table:
    """The answer to one query.

    Args:
        database: the catalog.
        sql: one query.
        parameters: values for the query's `$name`, or `?` or `$1`.
        limits: for the query.
        variables: values for the variables that views ask for with `getvariable`.

    Raises:
        UsageError: it is not a query, or makes no sense.
        LimitError: it takes more than it may.
        WarehouseError: there is no warehouse to ask, or its files cannot be read.
        KeyboardInterrupt: Ctrl-C was pressed; the query has ended.
    """
    # A thread that is in the middle of a query hears Ctrl-C only now and then, so this one waits and listens.
    with open_catalog(database, limits) as con, ThreadPoolExecutor(1) as worker:
        set_variables(con, variables or {})
        answering = worker.submit(answer, con, sql, parameters, limits)
        try:
            return answering.result()
        except KeyboardInterrupt:
            # The query may not have begun yet, and would miss a single call.
            while not answering.done():
                con.interrupt()
                wait([answering], _PATIENCE_SECONDS)
            raise
