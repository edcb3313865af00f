"""What views hold, as the warehouse's own dictionaries say it."""

from pathlib import Path
from typing import Final

import pyarrow as pa

from iomine.cli.terminal.questions import ask_own
from iomine.errors import UsageError, did_you_mean

_VIEWS: Final = (
    "SELECT table_name, about FROM view_dictionary WHERE NOT contains(table_name, '.') OR starts_with(table_name, 'site.') "
    "ORDER BY table_name"
)
_NAMES: Final = "SELECT table_name FROM view_dictionary"
_COLUMNS: Final = "SELECT column_name, type, unit, about FROM data_dictionary WHERE table_name = lower($1)"


def views_for_people(database: Path) -> pa.Table:
    """The views for people, each with one sentence."""
    return ask_own(database, _VIEWS)


def columns_of(database: Path, view: str, otherwise: str) -> pa.Table:
    """The columns of a view, with type, unit and meaning.

    Args:
        database: the catalog.
        view: its name, with its schema where that is not main.
        otherwise: a sentence that says where the names are, used if no view has a similar name.

    Raises:
        UsageError: there is no such view.
    """
    columns = ask_own(database, _COLUMNS, [view])
    if not columns.num_rows:
        hint = did_you_mean(view, ask_own(database, _NAMES)["table_name"].to_pylist())
        raise UsageError(f"There is no view {view}: {hint or otherwise}")
    return columns
