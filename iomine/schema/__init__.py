"""What the data is called and shaped like: words, tables, and what follows from both."""

from iomine.schema.fields import Field, Kind, Privacy
from iomine.schema.registry import FIELDS, TABLES, field, table
from iomine.schema.table import Table

__all__ = ["FIELDS", "TABLES", "Field", "Kind", "Privacy", "Table", "field", "table"]
