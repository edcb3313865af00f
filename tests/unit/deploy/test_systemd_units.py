"""Units of systemd: they are what systemd takes, name commands that exist, and give away little."""

import configparser
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest
from mail_server import Handler, mail_server
from post_office import parsed

from iomine.cli.app import commands

UNITS = Path(__file__).parents[3] / "deploy" / "systemd"
SERVICES = sorted(UNITS.glob("*.service"))
# systemd's own scale runs from 0 to 10; 3 is asked of services that look at other people's files.
_MOST_EXPOSED = 30

needs_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")


def unit(path: Path) -> configparser.ConfigParser:
    """The settings of a unit; of those that stand more than once the last."""
    read = configparser.ConfigParser(strict=False, interpolation=None)
    read.optionxform = str  # type: ignore[assignment]  # as its documentation says
    read.read(path)
    return read


@needs_systemd
def test_units_are_sound(tmp_path):
    """Systemd verifies all of them, where the programs that they start are there."""
    for path in UNITS.iterdir():
        text = (
            path.read_text()
            .replace("/opt/iomine/bin/iomine", "/bin/true")
            .replace("/opt/iomine/share/iomine-failed", "/bin/true")
        )
        (tmp_path / path.name).write_text(text)
    units = [str(path) for path in tmp_path.iterdir() if path.suffix in {".service", ".timer"}]
    done = subprocess.run(["systemd-analyze", "verify", *units], check=False, capture_output=True, text=True)
    assert (0, "") == (done.returncode, done.stderr)


@needs_systemd
@pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.stem)
def test_units_are_hardened(path):
    """Little of the host is open to them, by systemd's own count."""
    command = ["systemd-analyze", "security", "--offline=true", f"--threshold={_MOST_EXPOSED}", str(path)]
    assert 0 == subprocess.run(command, check=False, capture_output=True).returncode


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.stem)
def test_units_start_commands_that_exist(path):
    """Each begins a command of ours, or a program that lies beside it."""
    program, *words = unit(path)["Service"]["ExecStart"].split()
    if program.endswith("/iomine"):
        assert words[0] in commands()
    else:
        assert (UNITS / Path(program).name).exists()


def test_failures_are_mailed_about():
    """The nightly unit names who is started when it fails; rejects are no failure."""
    nightly = unit(UNITS / "iomine-nightly.service")
    assert "iomine-failed@%n.service" == nightly["Unit"]["OnFailure"]
    assert "3" == nightly["Service"]["SuccessExitStatus"]
    assert "true" == unit(UNITS / "iomine-nightly.timer")["Timer"]["Persistent"]


def test_a_failure_is_mailed(monkeypatch):
    """The mail names the unit and has what it said last, and goes to whom the host says."""
    done = subprocess.CompletedProcess([], 0, "No log was found for polaris.\n", "")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    with mail_server(handler := Handler()) as server:
        monkeypatch.setenv("IOMINE_FAILED_SMTP", f"{server.host}:{server.port}")
        monkeypatch.setenv("IOMINE_FAILED_TO", "ops@site.test")
        runpy.run_path(str(UNITS / "iomine-failed"))["main"]("iomine-nightly.service")
    assert ["ops@site.test"] == handler.addresses()
    mail = parsed(handler.mails[0].content)
    assert mail["Subject"].startswith("iomine-nightly.service failed on ")
    assert "No log was found for polaris." in mail.get_content()
