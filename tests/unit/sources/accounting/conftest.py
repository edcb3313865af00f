from collections.abc import Callable, Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any

import pytest

from iomine.schema.registry import arrow_schema, field
from iomine.sources.accounting import SOURCES
from iomine.sources.model import Input, Readings

Read = Callable[..., Readings]


@pytest.fixture(scope="session")
def read() -> Read:
    """Reads bytes or text as the first source does that knows them, and holds what it gives to the contract."""

    def reading(data: bytes | str, kind: str = "", zone: tzinfo = UTC, cluster: str = "") -> Readings:
        content = data.encode() if isinstance(data, str) else data
        source = Input("jobs", content, datetime(2026, 1, 1, tzinfo=UTC), zone, cluster)
        known = next(each for each in SOURCES if each.knows(source))
        assert kind in ("", known.kind)
        readings = known.read(source)
        for name, table in readings.tables.items():
            assert arrow_schema(name).names == table.column_names[:-1]
            assert arrow_schema(name).types == table.schema.types[:-1]
            assert ("night", field("night").type) == (table.column_names[-1], table.schema.types[-1])
            assert 0 == table["night"].null_count == table["job_id"].null_count
            assert 0 < table.num_rows
            table.validate(full=True)
        return readings

    return reading


@pytest.fixture(scope="session")
def jobs(read: Read) -> Callable[..., list[dict[str, Any]]]:
    """Rows of jobs."""
    return lambda *args, **more: _rows(read(*args, **more).tables, "job")


@pytest.fixture(scope="session")
def steps(read: Read) -> Callable[..., list[dict[str, Any]]]:
    """Rows of steps."""
    return lambda *args, **more: _rows(read(*args, **more).tables, "job_step")


def _rows(tables: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    return tables[name].to_pylist() if name in tables else []
