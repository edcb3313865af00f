"""A facility with hostile names, and a server that shows it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from facility import Facility
from web_server import LIMITS, Get, ask_server, served

from iomine.views.catalog import build_catalog
from iomine.web.sessions import Session


@pytest.fixture(scope="session")
def facility(tmp_path_factory: pytest.TempPathFactory) -> Facility:
    """The rows, and a warehouse that holds them."""
    return Facility(tmp_path_factory.mktemp("facility"))


@pytest.fixture(scope="session")
def empty_catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog with no row."""
    target = tmp_path_factory.mktemp("empty") / "iomine.duckdb"
    build_catalog(target, {}, {}, {})
    return target


@pytest.fixture
def session(facility: Facility) -> Iterator[Session]:
    """A connection to the warehouse."""
    opened = Session(facility.root / "iomine.duckdb", LIMITS)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def address(facility: Facility) -> Iterator[str]:
    """Where a server listens that answers from the warehouse."""
    with served(facility.root) as place:
        yield place


@pytest.fixture
def get(address: str) -> Get:
    """Asks the server, with the path exactly as it is given."""
    return lambda *arguments, **options: ask_server(address, *arguments, **options)
