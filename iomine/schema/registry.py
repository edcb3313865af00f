"""All fields and tables by name: written by hand, made from Darshan's counters, or found by walking `tables/`."""

import importlib
import pkgutil
from functools import cache
from typing import Final

import pyarrow as pa

from iomine.schema import fields, tables
from iomine.schema.apmpi import APMPI_FIELDS
from iomine.schema.counters import COUNTERS, LUSTRE_COMPONENT, field_of
from iomine.schema.fields import Field
from iomine.schema.table import Table


def _all_fields() -> dict[str, Field]:
    found: dict[str, Field] = {}
    for group in vars(fields).values():
        if isinstance(group, dict):
            found |= {name: field for name, field in group.items() if isinstance(field, Field)}
    words = {word for counters in COUNTERS.values() for word in counters.integers + counters.floats}
    for word in words | set(LUSTRE_COMPONENT):
        counted = field_of(word)
        found.setdefault(counted.name, counted)
    return found | APMPI_FIELDS


def _all_tables() -> dict[str, Table]:
    modules = [importlib.import_module(f"{tables.__name__}.{info.name}") for info in pkgutil.iter_modules(tables.__path__)]
    return {table.name: table for module in modules for table in vars(module).values() if isinstance(table, Table)}


FIELDS: Final[dict[str, Field]] = _all_fields()
TABLES: Final[dict[str, Table]] = _all_tables()


def field(name: str) -> Field:
    """The field of that name.

    Raises:
        KeyError: no such word.
    """
    return FIELDS[name]


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
