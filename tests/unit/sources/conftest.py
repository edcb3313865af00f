from collections.abc import Callable
from typing import Any

import pytest
from writing import Blueprint, write

from iomine.sources.darshan import Log, read_log


@pytest.fixture(scope="session")
def read(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Log]:
    """Reads a log from its bytes, or from the blueprint that they are written from."""
    folder = tmp_path_factory.mktemp("logs")

    def reading(log: bytes | Blueprint, name: str = "alice_sim_id77_11-14-100-5.darshan") -> Log:
        path = folder / name
        path.write_bytes(write(log) if isinstance(log, Blueprint) else log)
        return read_log(path)

    return reading


@pytest.fixture(scope="session")
def rows() -> Callable[[Log, str], list[dict[str, Any]]]:
    """All rows of a table of a log, without the log's id."""

    def rows_of(log: Log, table: str) -> list[dict[str, Any]]:
        return log.table(table).drop_columns("log_id").to_pylist()

    return rows_of
