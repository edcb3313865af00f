"""The command line as a whole: what it offers, and how it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from iomine import __version__
from iomine.cli.app import commands
from iomine.cli.terminal.failures import guarded
from iomine.errors import IomineError, UnreadableError, UsageError

RUN = (sys.executable, "-c", "from iomine.cli import main; main()")
SAYS_LOADED = "import sys\nfrom iomine.cli import main\ntry:\n    main()\nfinally:\n    sys.stderr.write(' '.join(sys.modules))"
HEAVY = {"dask", "distributed", "prefect", "duckdb", "pyarrow", "darshan", "deltalake", "prompt_toolkit", "numpy"}


def _ending(failure: BaseException | None, **environment: str):
    app = typer.Typer(pretty_exceptions_enable=False)

    def command() -> None:
        if failure is not None:
            raise failure

    app.command()(guarded(command))
    return CliRunner().invoke(app, [], env={"IOMINE_DEBUG": "", **environment})


@pytest.mark.parametrize("name", commands())
def test_every_command_has_help(iomine, name: str) -> None:
    """Each command says in a sentence what it does, and describes each of its options."""
    answer = iomine(name, "--help")
    assert answer.exit_code == 0
    assert commands()[name].__doc__.splitlines()[0] in answer.stdout
    undescribed = [line for line in answer.stdout.splitlines() if line.startswith("  --") and line.split()[-1] == line.strip()]
    assert undescribed == []


def test_the_list_of_commands_cuts_no_sentence(iomine) -> None:
    """What a command does can be read whole in a terminal of 80 columns."""
    listed = iomine("--help", COLUMNS="80").stdout.partition("Commands:")[2]
    assert [] == [line for line in listed.splitlines() if line.endswith("...")]


def test_commands_are_the_modules_that_have_one() -> None:
    """A module put beside the others becomes a command of its name; helpers do not."""
    assert {"doctor", "explain", "sql", "status", "worst"} <= set(commands())
    assert {"app", "options", "terminal"}.isdisjoint(commands())


def test_help_waits_for_nothing_heavy() -> None:
    """Asking for help loads neither a database nor a scheduler."""
    asked = subprocess.run([sys.executable, "-c", SAYS_LOADED, "--help"], capture_output=True, text=True, check=True)
    assert "worst" in asked.stdout
    assert HEAVY & set(asked.stderr.split()) == set()


@pytest.mark.parametrize(
    ("typed", "offered"), [("iomine wor", "worst"), ("iomine worst --acc", "--account"), ("iomine worst --by f", "findings")]
)
def test_shells_complete(typed: str, offered: str) -> None:
    """A shell that asks gets commands, options and their values."""
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" ")), "_IOMINE_COMPLETE": "complete_bash"}
    program = "import sys; sys.argv[0] = 'iomine'; from iomine.cli import main; main()"
    asked = subprocess.run([sys.executable, "-c", program], env=os.environ | words, capture_output=True, text=True, check=False)
    assert offered in asked.stdout.split()


def test_version_is_printed(iomine) -> None:
    """`--version` names the version and does nothing else."""
    assert iomine("--version").stdout == f"iomine {__version__}\n"


@pytest.mark.parametrize("arguments", [["swep"], ["--no-such-option"], ["sql", "--format", "xml"], ["worst", "--limit", "0"], []])
def test_misuse_ends_with_2(iomine, arguments: list[str]) -> None:
    """Whatever cannot be understood ends with status 2, and nothing on stdout but help that was not asked for."""
    answer = iomine(*arguments)
    assert answer.exit_code == 2


@pytest.mark.parametrize("given", [["--config", "x.toml"], ["--config=x.toml"]])
def test_options_of_iomine_behind_a_command_have_their_place_named(iomine, given: list[str]) -> None:
    """An option that every command obeys stands before it, and is no unknown one."""
    answer = iomine("nightly", *given)
    assert 2 == answer.exit_code
    assert "Error: --config stands before the command: iomine --config ... nightly.\n" in answer.stderr


@pytest.mark.parametrize(
    ("failure", "status", "reported"),
    [
        (None, 0, ""),
        (IomineError("Make room."), 1, "Make room.\n"),
        (UsageError("Give a path."), 2, "Give a path.\n"),
        (UnreadableError("It is cut short."), 1, "It is cut short.\n"),
        (
            PermissionError(13, "Permission denied", "/w/iomine.duckdb"),
            1,
            "/w/iomine.duckdb cannot be opened: ask its owner for permission.\n",
        ),
        (KeyboardInterrupt(), 130, "Interrupted.\n"),
        (typer.Exit(3), 3, ""),
    ],
)
def test_failures_are_one_sentence_and_a_status(failure: BaseException | None, status: int, reported: str) -> None:
    """A failure that was foreseen is reported in one line on stderr, without a traceback."""
    answer = _ending(failure)
    assert (answer.exit_code, answer.stderr, answer.stdout) == (status, reported, "")


def test_unforeseen_failure_says_how_to_see_more() -> None:
    """A failure that nobody foresaw is one line as well, which says how to get the traceback."""
    answer = _ending(ZeroDivisionError("division by zero"))
    reported = "iomine failed unexpectedly (ZeroDivisionError: division by zero); set IOMINE_DEBUG=1 to see where.\n"
    assert (answer.exit_code, answer.stderr) == (1, reported)


def test_debugging_shows_where() -> None:
    """With IOMINE_DEBUG set, an unforeseen failure comes through as it is."""
    failure = ZeroDivisionError("division by zero")
    assert _ending(failure, IOMINE_DEBUG="1").exception is failure


def test_failures_cannot_steer_the_terminal() -> None:
    """Control characters of a message, which may quote a log, are shown and not sent."""
    assert _ending(IomineError("No \x1b[2J\n\u202e such user.")).stderr == "No \\x1b[2J\\n\\u202e such user.\n"


def test_interrupted_query_is_one_short_line(warehouse: Path) -> None:
    """Ctrl-C ends a query that takes too long, with the status that shells expect."""
    endless = "SELECT sum(hash(range)) AS total FROM range(1000000000000)"
    with subprocess.Popen(
        [*RUN, "sql", endless, "--warehouse", str(warehouse)],
        stderr=subprocess.PIPE,
        text=True,
        # Run in the background of a script, the tests hand on that they ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  no threads here
    ) as asked:
        time.sleep(2)
        asked.send_signal(signal.SIGINT)
        try:
            reported = asked.communicate(timeout=60)[1]
        finally:
            asked.kill()
    assert (asked.returncode, reported) == (130, "Interrupted.\n")


def test_reader_that_leaves_ends_the_command_quietly(warehouse: Path) -> None:
    """Closing the pipe early, as `head` does, is no failure worth words."""
    query = "SELECT range AS number FROM range(500000)"
    with subprocess.Popen(
        [*RUN, "sql", query, "--format", "csv", "--warehouse", str(warehouse)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as asked:
        assert asked.stdout.readline() == b"number\n"
        asked.stdout.close()
        reported = asked.stderr.read()
    assert (asked.returncode, reported) == (141, b"")
