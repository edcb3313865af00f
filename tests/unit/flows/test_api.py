"""Sweeps where Prefect has an API run as flows, and others do without Prefect."""

import json
import os
import sqlite3
import subprocess
import sys
import urllib.request
from contextlib import closing
from pathlib import Path

import psutil
import pytest
from sweeping import BY_ONE, IOMINE_BY_ONE, column

from iomine.errors import IomineError, WarehouseError
from iomine.flows import api
from iomine.flows.api import api_url, prepare
from iomine.flows.server import server

PROFILES = """
active = "night"

[profiles.night]
PREFECT_API_URL = "http://night.example/api"

[profiles.day]
PREFECT_API_URL = "http://day.example/api"

[profiles.ephemeral]
PREFECT_SERVER_ALLOW_EPHEMERAL_MODE = "true"
"""


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    """A home of Prefect without settings, in an environment without any."""
    for name in [name for name in os.environ if name.startswith("PREFECT_") or name == "DO_NOT_TRACK"]:
        monkeypatch.delenv(name)
    # `prepare` writes into the environment.
    kept = dict(os.environ)
    os.environ["PREFECT_HOME"] = str(tmp_path)
    yield tmp_path
    os.environ.clear()
    os.environ.update(kept)


def test_a_machine_without_settings_has_no_api():
    """Nor has one whose profiles cannot be read."""
    assert api_url() is None


def test_the_active_profile_names_the_api(home, monkeypatch):
    """`PREFECT_PROFILE` chooses another, and `PREFECT_API_URL` stands above all profiles."""
    (home / "profiles.toml").write_text(PROFILES)
    assert "http://night.example/api" == api_url()

    monkeypatch.setenv("PREFECT_PROFILE", "day")
    assert "http://day.example/api" == api_url()

    monkeypatch.setenv("PREFECT_API_URL", "http://site.example/api")
    assert "http://site.example/api" == api_url()


@pytest.mark.parametrize("profile", ["ephemeral", "unknown"])
def test_a_profile_without_an_address_has_no_api(home, monkeypatch, profile):
    """Prefect would start a server of its own, which a sweep does not need."""
    (home / "profiles.toml").write_text(PROFILES)
    monkeypatch.setenv("PREFECT_PROFILE", profile)

    assert api_url() is None


def test_profiles_that_cannot_be_read_name_no_api(home):
    """Prefect itself complains about them."""
    (home / "profiles.toml").write_bytes(b"\xff = ")

    assert api_url() is None


def test_an_api_that_does_not_answer_is_reported(monkeypatch):
    """One sentence names the address and the variable."""
    monkeypatch.setattr(api, "_ANSWER_SECONDS", 0.3)

    with pytest.raises(
        IomineError, match=r"^No Prefect API answers at http://127\.0\.0\.1:1/api: start its server, or unset PREF"
    ):
        prepare("http://127.0.0.1:1/api")


@pytest.fixture(scope="module")
def prefect():
    """A Prefect server: its address and its database."""
    with server() as started:
        yield started


def test_the_pages_of_prefect_ask_its_own_server(prefect):
    """And not the port that Prefect has by default; those that count visits are not the default."""
    url, _ = prefect
    with urllib.request.urlopen(f"{url.removesuffix('/api')}/ui-settings") as answer:  # noqa: S310  on loopback
        settings = json.load(answer)
    assert (url, "v1") == (settings["api_url"], settings["default_ui"])


def test_prefect_shows_what_the_sweep_did(prefect, shared_data, tmp_path):
    """One flow run of eight tasks, however many logs there were, and the summary as an artifact."""
    url, database = prefect
    warehouse = tmp_path / "warehouse"
    result = subprocess.run(
        [*IOMINE_BY_ONE, "sweep", shared_data / "darshan" / "codes", "--warehouse", warehouse, "--json", "--workers", "1"],
        env=os.environ | {"PREFECT_API_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == result.returncode, result.stderr
    reported = json.loads(result.stdout)

    with closing(sqlite3.connect(database)) as connection:
        runs = connection.execute("SELECT name, state_type, parameters FROM flow_run").fetchall()
        tasks = connection.execute("SELECT count(*), count(DISTINCT name), max(state_type) FROM task_run").fetchall()
        ((key, data, description),) = connection.execute("SELECT key, data, description FROM artifact")
    assert [("default", "COMPLETED", "{}")] == runs
    assert [(8, 8, "COMPLETED")] == tasks
    assert "sweep-summary" == key
    assert f"default: {reported['ingested']} new logs of nights from {reported['nights'][0]} to " in description
    assert description.endswith(f", 0 rejected. Sweep {reported['sweep_id']} into {warehouse}.")
    summary = {row["what"]: row["how many"] for row in json.loads(json.loads(data))}
    said = {key: reported[key] for key in ("found", "ingested", "known", "rejected", "findings")}
    assert 0 < reported["found"]
    assert said | {"reports written anew": reported["reports"]} == {key: summary[key] for key in (*said, "reports written anew")}


@pytest.mark.proof
def test_more_paths_than_prefect_takes_are_swept(prefect, tmp_path):
    """A shell's list of thousands of files, some of whose names are no text, is no hindrance."""
    names = [f"{'x' * 80}{number:05}.darshan" for number in range(5000)] + [os.fsdecode(b"bad\xff.darshan")]
    for name in names:
        (tmp_path / name).touch()
    result = subprocess.run(
        [*IOMINE_BY_ONE, "sweep", *(tmp_path / name for name in names), "--warehouse", tmp_path / "warehouse"],
        env=os.environ | {"PREFECT_API_URL": prefect[0]},
        capture_output=True,
        text=True,
        check=False,
    )

    assert 3 == result.returncode, result.stderr
    assert result.stdout.startswith("5,001 found = 0 ingested + 0 known + 5,001 rejected")


def plainly(sweep: int, given: int) -> int:
    """A stage."""
    return sweep + given


@pytest.mark.parametrize(
    ("there", "error", "ends"),
    [
        ([False], None, 3),
        ([True, False], ConnectionError("refused"), 3),
        ([True, True], ZeroDivisionError("ours"), ZeroDivisionError),
        ([True], WarehouseError("The disk is full."), WarehouseError),
    ],
    ids=["gone before", "gone meanwhile", "a fault of ours", "a failure that was foreseen"],
)
@pytest.mark.proof
def test_what_follows_the_commit_needs_no_prefect(monkeypatch, there, error, ends):
    """A stage is run by itself where Prefect is lost, and what is not Prefect's fault stays a fault."""
    from iomine.flows import sweep as room  # noqa: PLC0415  Prefect takes seconds

    def failing(*_):
        raise error

    answers = iter(there)
    monkeypatch.setattr(room, "is_there", lambda: next(answers))
    monkeypatch.setattr(room, "_task", lambda *_, **__: failing)
    if isinstance(ends, int):
        assert ends == room._with_or_without(plainly, room.Held(1), room.Held(2)).value
    else:
        with pytest.raises(ends):
            room._with_or_without(plainly, room.Held(1), room.Held(2))


# Ends the server once the reports have been written.
SERVER_LOST = f"""
{BY_ONE}
import os
from iomine.flows import api
api.prepare(os.environ["PREFECT_API_URL"])
from iomine.flows import sweep
write = sweep.report

def report(*given):
    written = write(*given)
    os.kill(int(os.environ["SERVER"]), 9)
    return written

sweep.report = report
from iomine.cli import main
main()
"""


@pytest.mark.proof
def test_a_server_that_is_lost_after_publishing_costs_a_warning(shared_data, tmp_path):
    """Everything is there, so the sweep has succeeded; one sentence says what Prefect does not show."""
    log = shared_data / "darshan" / "darshan-ruby" / "ior1.darshan"
    others = set(psutil.Process().children())
    with server() as (url, _):
        (process,) = {*psutil.Process().children()} - others
        swept = subprocess.run(
            [sys.executable, "-c", SERVER_LOST, "sweep", log, "--warehouse", tmp_path / "warehouse", "--workers", "1"],
            env=os.environ | {"PREFECT_API_URL": url, "SERVER": str(process.pid)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert 0 == swept.returncode, swept.stderr
    assert "Prefect's API was lost, so it does not show how this sweep ended: everything is published." in swept.stderr
    assert "Traceback" not in swept.stderr
    assert [1] == column(tmp_path / "warehouse", "SELECT count(*) FROM logs")
