"""`iomine serve` and `iomine site`: how they begin, and how they end."""

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

SERVE = (sys.executable, "-c", "from iomine.cli import main; main()", "serve")


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, -signal.SIGTERM)])
@pytest.mark.proof
def test_server_says_where_it_is_and_ends_on_a_signal(warehouse: Path, sent: signal.Signals, status: int) -> None:
    """Its address is all there is on stdout; Ctrl-C is how it is meant to end, and leaves nothing behind."""
    with subprocess.Popen(
        [*SERVE, "--port", "0", "--warehouse", str(warehouse)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  no threads here
    ) as server:
        try:
            address = server.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:")
            with urlopen(address, timeout=60) as reply:  # noqa: S310  our own
                assert b"Facility dashboard" in reply.read()
            server.send_signal(sent)
            stdout, stderr = server.communicate(timeout=60)
            assert ("", 1) == (stdout, len(stderr.splitlines()))
        finally:
            server.kill()
    assert status == server.returncode


def test_port_that_is_taken_is_reported(iomine, warehouse: Path) -> None:
    """Another server on the port is no traceback."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answer = iomine("serve", "--port", str(port), "--warehouse", warehouse)
    assert (2, "") == (answer.exit_code, answer.stdout)
    assert answer.stderr.startswith(f"Port {port} of 127.0.0.1 cannot be opened")


@pytest.mark.parametrize("host", ["no such host", "256.0.0.1", "x" * 300, ""])
def test_address_that_is_none_is_reported(iomine, warehouse: Path, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that cannot be listened on is reported in a line; an empty one is not taken for all."""
    monkeypatch.setattr("iomine.web.server.serve", lambda *_: None)
    answer = iomine("serve", "--host", host, "--port", "0", "--warehouse", warehouse)
    assert (2, 1) == (answer.exit_code, len(answer.stderr.splitlines()))


def test_who_sees_everything_is_said_or_asked(iomine, warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loopback is open and says to whom, and how to close it; elsewhere a site has to say who may see what."""
    monkeypatch.setattr("iomine.web.server.serve", lambda *_: None)
    everywhere = ("--host", "0.0.0.0")  # noqa: S104
    served = iomine("serve", "--port", "0", "--warehouse", warehouse)
    assert served.stderr.startswith("Every user of this host can read everything here. To close it, write ")
    for place in (everywhere, ("--socket", str(tmp_path / "s"))):
        refused = iomine("serve", *place, "--port", "0", "--warehouse", warehouse)
        assert (2, "") == (refused.exit_code, refused.stdout)
        assert refused.stderr.startswith("The access rules are missing: write ")
    site = tmp_path / "w"
    site.mkdir()
    shutil.copy(warehouse / "iomine.duckdb", site)
    (site / "access.toml").write_text("everyone = true")
    assert "can read everything" in iomine("serve", *everywhere, "--port", "0", "--warehouse", site).stderr
    (site / "access.toml").write_text("")
    assert "" == iomine("serve", *everywhere, "--port", "0", "--warehouse", site).stderr
    (site / "access.toml").write_text("admin = []")
    misspelt = iomine("serve", "--port", "0", "--warehouse", site)
    assert (2, True) == (misspelt.exit_code, "There is no access setting admin: did you mean admins?" in misspelt.stderr)


def test_users_are_known_at_a_local_socket(warehouse: Path, tmp_path: Path) -> None:
    """The kernel says who asks: their login is noted, and is what it is in the settings."""
    login = pwd.getpwuid(os.geteuid()).pw_name
    (warehouse / "access.toml").write_text(f'admins = ["{login}"]')
    place = tmp_path / "s"
    # What a server that was killed left there.
    with socket.socket(socket.AF_UNIX) as old:
        old.bind(str(place))
    with subprocess.Popen(
        [*SERVE, "--socket", str(place), "--warehouse", str(warehouse)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            assert f"{place}\n" == server.stdout.readline()
            with socket.socket(socket.AF_UNIX) as asking:
                asking.settimeout(60)
                # The server listens before it says so.
                asking.connect(str(place))
                asking.sendall(b"GET /views/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                assert asking.recv(100).startswith(b"HTTP/1.1 200")
        finally:
            server.terminate()
            server.communicate(timeout=60)
    (line,) = map(json.loads, (warehouse / "access.jsonl").read_text().splitlines())
    assert (login, "admin", "socket", 200) == (line["who"], line["role"], line["way"], line["status"])


@pytest.mark.parametrize("command", [("serve", "--port", "0"), ("site", "out")])
def test_without_a_warehouse_a_sentence_says_so(iomine, tmp_path: Path, command: tuple[str, ...]) -> None:
    """There is nothing to show before the first sweep."""
    answer = iomine(*command, "--warehouse", tmp_path / "none")
    assert (1, True) == (answer.exit_code, answer.stderr.startswith("There is no warehouse at"))


def test_memory_that_is_none_is_reported(iomine, warehouse: Path) -> None:
    """Limits are checked before the server starts."""
    answer = iomine("serve", "--memory", "lots", "--warehouse", warehouse)
    assert (2, True) == (answer.exit_code, answer.stderr.startswith("--memory: 'lots' is no number of bytes"))


def test_site_of_an_empty_warehouse_says_that_there_is_nothing(iomine, warehouse: Path, tmp_path: Path) -> None:
    """No logs are no failure: the dashboard says so, panel by panel."""
    answer = iomine("site", tmp_path / "out", "--warehouse", warehouse)
    assert (0, "") == (answer.exit_code, answer.stderr)
    text = (tmp_path / "out" / "index.html").read_text()
    for said in ("There are no logs of these nights.", "All inputs could be read.", "There was no sweep yet."):
        assert said in text
    assert answer.stdout.startswith(f"{tmp_path / 'out' / 'index.html'}: ")


def test_site_of_an_unknown_machine_is_reported(iomine, warehouse: Path, tmp_path: Path) -> None:
    """A name that no machine has is no empty site."""
    answer = iomine("site", tmp_path / "out", "--cluster", "nope", "--warehouse", warehouse)
    assert (2, "No logs are from a machine 'nope': there are none yet.\n") == (answer.exit_code, answer.stderr)
    assert not (tmp_path / "out").exists()


def test_folder_with_other_files_is_reported(iomine, warehouse: Path, tmp_path: Path) -> None:
    """A site never writes over what is not one."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").touch()
    answer = iomine("site", tmp_path / "mine", "--warehouse", warehouse)
    assert (2, True) == (answer.exit_code, "is no site" in answer.stderr)
