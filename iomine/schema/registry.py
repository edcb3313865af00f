"""All fields and tables by name: written by hand, made from Darshan's counters, or found by walking `tables/`."""

import importlib
import pkgutil
from collections import Counter
from functools import cache
from types import ModuleType
from typing import Final

import pyarrow as pa

from iomine.schema import fields, tables
from iomine.schema.apmpi import APMPI_FIELDS
from iomine.schema.counters import COUNTERS, LUSTRE_COMPONENT, field_of
from iomine.schema.fields import Field
from iomine.schema.fields.site import site_word
from iomine.schema.table import Table


def _all_fields() -> dict[str, Field]:
    groups = [group for module in _modules(fields) for group in vars(module).values() if isinstance(group, dict)]
    written = [field for group in [*groups, APMPI_FIELDS] for field in group.values() if isinstance(field, Field)]
    if twice := [name for name, times in Counter(field.name for field in written).items() if times > 1]:
        raise ValueError(f"A word has one meaning, and {', '.join(twice)} has two.")
    words = {word for counters in COUNTERS.values() for word in counters.integers + counters.floats}
    counted = {field.name: field for field in map(field_of, words | set(LUSTRE_COMPONENT))}
    if other := [field.name for field in written if field.name in counted and field.kind != counted[field.name].kind]:
        raise ValueError(f"A word has one meaning, and {', '.join(other)} is a counter of Darshan's, too.")
    return counted | {field.name: field for field in written}


def _all_tables() -> dict[str, Table]:
    found = [table for module in _modules(tables) for table in vars(module).values() if isinstance(table, Table)]
    if twice := [name for name, times in Counter(table.name for table in found).items() if times > 1]:
        raise ValueError(f"A table has a name of its own, and {', '.join(twice)} is that of two.")
    return {table.name: table for table in found}


def _modules(room: ModuleType) -> list[ModuleType]:
    return [importlib.import_module(f"{room.__name__}.{info.name}") for info in pkgutil.iter_modules(room.__path__)]


FIELDS: Final[dict[str, Field]] = _all_fields()
TABLES: Final[dict[str, Table]] = _all_tables()


def field(name: str) -> Field:
    """The field of that name, one of a site's own words among them.

    Raises:
        KeyError: no such word.
    """
    return FIELDS.get(name) or site_word(name)


def is_word(name: str) -> bool:
    """Whether a column may have this name."""
    try:
        field(name)
    except KeyError:
        return False
    return True


def table(name: str) -> Table:
    """The table of that name.

    Raises:
        KeyError: no such table.
    """
    return TABLES[name]


@cache
def arrow_schema(name: str, *, with_partition_keys: bool = False) -> pa.Schema:
    """The Arrow schema of a table.

    Args:
        name: the table's name.
        with_partition_keys: also the columns that live in folder names.
    """
    entry = TABLES[name]
    columns = (entry.partition_keys if with_partition_keys else ()) + entry.columns
    return pa.schema([pa.field(column, FIELDS[column].type, metadata={"unit": FIELDS[column].unit}) for column in columns])
