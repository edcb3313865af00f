"""Defines the words and tables of the data, and makes Arrow schemas and other descriptions from them."""

from iomine.schema.fields import Field, Kind, Privacy
from iomine.schema.registry import FIELDS, TABLES, field, is_word, table
from iomine.schema.table import Table
from iomine.schema_version import SCHEMA_VERSION, UNSAID, mismatch

__all__ = [
    "FIELDS",
    "SCHEMA_VERSION",
    "TABLES",
    "UNSAID",
    "Field",
    "Kind",
    "Privacy",
    "Table",
    "field",
    "is_word",
    "mismatch",
    "table",
]
