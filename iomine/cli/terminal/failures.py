"""How a command ends when it cannot go on: one sentence on stderr, and an exit status."""

import functools
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NoReturn

import typer

from iomine.arrow import leave_pandas_out
from iomine.cli.terminal.text import say
from iomine.errors import IomineError, UsageError

# As shells report a program that SIGINT or SIGPIPE ended.
_INTERRUPTED = 130
_NOBODY_LISTENS = 141


def guarded(command: Callable[..., None], *, loads_arrow: bool = True) -> Callable[..., None]:
    """The command, with one sentence for every failure.

    `IOMINE_DEBUG=1` in the environment shows unexpected failures with their traceback.

    Args:
        command: what it does.
        loads_arrow: whether it always needs pyarrow.
    """

    @functools.wraps(command)
    def run(*args: object, **options: object) -> None:
        if loads_arrow:
            leave_pandas_out()
        try:
            command(*args, **options)
            # Buffered output could otherwise fail after the command has reported success.
            sys.stdout.flush()
        except (typer.Exit, typer.Abort):
            raise
        except IomineError as error:
            say(str(error.args[0]), level="error")
            raise typer.Exit(error.exit_code) from error
        except KeyboardInterrupt as error:
            say("Interrupted.", level="error")
            raise typer.Exit(_INTERRUPTED) from error
        except BrokenPipeError as error:
            _forget_stdout()
            raise typer.Exit(_NOBODY_LISTENS) from error
        except Exception as error:
            say_unforeseen(error)
            raise typer.Exit(1) from error

    return run


def say_unforeseen(error: Exception) -> None:
    """Prints a line for a failure that nobody foresaw; raises it again where IOMINE_DEBUG is set."""
    if os.environ.get("IOMINE_DEBUG"):
        raise error
    if isinstance(error, PermissionError) and error.filename:
        say(f"{error.filename} cannot be opened: ask its owner for permission.", level="error")
        return
    what = f"{type(error).__name__}: {error}".removesuffix(": ").removesuffix(".")
    say(f"iomine failed unexpectedly ({what}); set IOMINE_DEBUG=1 to see where.", level="error")


def refuse(faults: Iterable[str]) -> NoReturn:
    """Prints a line for each fault, and ends the command with the exit status of misuse."""
    for fault in faults:
        say(fault, level="error")
    raise typer.Exit(UsageError.exit_code)


def _forget_stdout() -> None:
    # The interpreter flushes stdout once more as it ends, and would complain.
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
