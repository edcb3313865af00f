import os
import sqlite3
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest

from iomine.errors import IomineError, WarehouseError
from iomine.flows import server as server_room
from iomine.flows.server import Server, local_server, migrated_schema


@pytest.fixture(autouse=True)
def untouched_environment(monkeypatch):
    """What the server writes into the environment is gone after each test."""
    for name in [name for name in os.environ if name.startswith("PREFECT_") or name == "DO_NOT_TRACK"]:
        monkeypatch.delenv(name)
    kept = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(kept)


@pytest.fixture
def site(monkeypatch):
    """A site that runs a Prefect server of its own."""
    monkeypatch.setenv("PREFECT_API_URL", "http://prefect.site.example/api")


def test_a_site_with_a_server_keeps_it(tmp_path, site):
    """Where PREFECT_API_URL is set none is started, nothing is written, and the variable stays."""
    with local_server(tmp_path / "prefect") as server:
        assert "http://prefect.site.example/api" == server.url
        server.stop()

    assert "http://prefect.site.example/api" == os.environ["PREFECT_API_URL"]
    assert [] == list(tmp_path.iterdir())


def test_nothing_is_told_to_the_makers_of_prefect(tmp_path, site):
    """Neither client nor server may send telemetry; a site's own settings are left alone."""
    os.environ["PREFECT_HOME"] = "/site"
    with local_server(tmp_path / "prefect"):
        assert ("1", "false") == (os.environ["DO_NOT_TRACK"], os.environ["PREFECT_SERVER_ANALYTICS_ENABLED"])
        assert "/site" == os.environ["PREFECT_HOME"]


def test_a_server_that_does_not_answer_is_told(monkeypatch):
    """One sentence names the address and the variable."""
    monkeypatch.setattr(server_room, "_START_SECONDS", 0.2)

    with pytest.raises(IomineError, match=r"No Prefect server answers at http://127\.0\.0\.1:1/api: look at PREFECT_API_URL"):
        Server(None, "http://127.0.0.1:1/api", Path()).wait()


def test_a_database_is_there_before_the_server(tmp_path):
    """It begins as the migrations end, under its own name only once it is whole, and one that is there is kept."""
    server_room._create_database(tmp_path / "prefect")
    assert ["prefect.db"] == [path.name for path in (tmp_path / "prefect").iterdir()]
    with closing(sqlite3.connect(tmp_path / "prefect" / "prefect.db")) as connection:
        assert [(1,)] == connection.execute("SELECT count(*) FROM alembic_version").fetchall()

    (tmp_path / "prefect" / "prefect.db").write_bytes(b"mine")
    server_room._create_database(tmp_path / "prefect")
    assert b"mine" == (tmp_path / "prefect" / "prefect.db").read_bytes()


def test_a_place_where_no_database_can_be_is_told(tmp_path):
    """One sentence with the folder and the reason, and nothing left behind."""
    (tmp_path / "prefect").touch()

    with pytest.raises(IomineError, match=rf"Prefect's database cannot be made in {tmp_path}/prefect: "):
        server_room._create_database(tmp_path / "prefect")


@pytest.fixture
def no_server(monkeypatch):
    """Starts nothing."""
    monkeypatch.setattr(server_room, "_start", lambda _port: None)


def test_a_fault_of_prefect_on_a_full_disk_is_told_as_such(tmp_path, no_server, monkeypatch):
    """Prefect answers a full disk with an error of its server; people are told of the disk."""
    monkeypatch.setattr(server_room, "_LEAST_FREE_BYTES", 1 << 60)

    with (
        pytest.raises(IomineError, match=rf"^The disk that holds {tmp_path}/prefect is full"),
        local_server(tmp_path / "prefect"),
    ):
        raise RuntimeError("500 Internal Server Error")
    assert "PREFECT_API_URL" not in os.environ


def test_what_the_sweep_says_is_not_overruled(tmp_path, no_server, monkeypatch):
    """A sentence of the sweep's own comes through, full disk or not; so does a fault while there is room."""
    with pytest.raises(RuntimeError, match="foreign"), local_server(tmp_path / "prefect"):
        raise RuntimeError("foreign")
    monkeypatch.setattr(server_room, "_LEAST_FREE_BYTES", 1 << 60)
    with pytest.raises(WarehouseError, match="ours"), local_server(tmp_path / "prefect"):
        raise WarehouseError("ours")


@pytest.mark.cluster
def test_a_server_is_there_for_as_long_as_it_is_needed(tmp_path):
    """It answers on loopback, its files lie in the given folder, and afterwards process and address are gone."""
    with local_server(tmp_path / "prefect") as server:
        server.wait()
        assert server.url == os.environ["PREFECT_API_URL"]
        assert server.url.startswith("http://127.0.0.1:")
        assert b"true" == asked(server)

    assert server._process.poll() is not None
    assert "PREFECT_API_URL" not in os.environ
    with pytest.raises(OSError, match="refused"):
        asked(server)


def asked(server: Server) -> bytes:
    with urllib.request.urlopen(f"{server.url}/health", timeout=5) as answer:  # noqa: S310  our own address
        return answer.read()


@pytest.mark.cluster
def test_the_schema_is_what_the_migrations_of_this_release_make():
    """`python -m iomine.flows.server` writes it anew after an update of Prefect."""
    ours = Path(server_room.__file__).with_name("prefect_schema.sql").read_text()

    assert statements(ours) == statements(migrated_schema())


def statements(schema: str) -> list[list[str]]:
    """The statements of a schema without their order, nor that of a table's constraints, which differ from run to run."""
    return sorted(sorted(line.strip().rstrip(",") for line in statement.splitlines()) for statement in schema.split(";\n"))
