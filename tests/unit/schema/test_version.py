"""The version of the schema."""

from hashlib import sha256

from iomine.schema import FIELDS, SCHEMA_VERSION, TABLES
from iomine.schema_version import SHAPES


def shape() -> str:
    """A digest of all tables: their columns with types, their partitions, what identifies a row."""
    tables = [
        (name, table.partitioned, table.grain, [(column, str(FIELDS[column].type)) for column in table.columns])
        for name, table in sorted(TABLES.items())
    ]
    return sha256(repr(tables).encode()).hexdigest()[:16]


def test_a_change_of_a_table_has_a_number():
    """Who changes a table raises SCHEMA_VERSION, and adds its digest to SHAPES; a warehouse of another number is upgraded."""
    assert {SCHEMA_VERSION: shape()} == {SCHEMA_VERSION: SHAPES[SCHEMA_VERSION]}, "a table changed: see docs/versioning.md"
    assert max(SHAPES) == SCHEMA_VERSION
    assert len(SHAPES) == len(set(SHAPES.values()))
