"""Builds the command line: each module beside this one that has a function `command` is a command, named as the module.

Command modules import heavy modules inside their functions, so that `iomine --help` answers at once.
"""

import importlib
import os
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from iomine.cli.terminal.failures import guarded
from iomine.cli.terminal.text import LOG_FORMAT_VARIABLE, LogFormat

# These commands ask for rows, and load pyarrow only if they need more.
_WITHOUT_ARROW = ("show",)
_EPILOG = "Data goes to stdout, everything else to stderr. Exit status: 0 done, 1 failed, 2 misused, 3 done with rejects."


class _Command(TyperCommand):
    """A command that says where an option of `iomine` itself stands, if it is given behind the command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401  typer does not export its context
        own, firsts = ({name for each in of.params for name in each.opts} for of in (self, ctx.find_root().command))
        for name in (each.partition("=")[0] for each in args):
            if name in firsts - own:
                ctx.fail(f"{name} stands before the command: iomine {name} ... {ctx.info_name}.")
        return super().parse_args(ctx, args)


def build_app(asked: str | None = None) -> typer.Typer:
    """The command line, as typer has it.

    Args:
        asked: the only command to load; all commands are loaded for None, or for a name that is not a command.
    """
    app = typer.Typer(name="iomine", no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback(epilog=_EPILOG)(guarded(_iomine, loads_arrow=False))
    for name, command in commands(asked).items():
        app.command(name, cls=_Command)(guarded(command, loads_arrow=name not in _WITHOUT_ARROW))
    return app


def commands(asked: str | None = None) -> dict[str, Callable[..., None]]:
    """The functions of all commands by name, or the function of one command, if there is one of that name."""
    found: dict[str, Callable[..., None]] = {}
    modules = list(pkgutil.iter_modules([str(Path(__file__).parent)]))
    for info in [each for each in modules if each.name == asked] or modules:
        module = importlib.import_module(f"{__package__}.{info.name}")
        command = getattr(module, "command", None)
        if command is not None:
            found[info.name] = command
    return found or commands()


def _show_version(is_asked: bool) -> None:
    if is_asked:
        from iomine import __version__  # noqa: PLC0415  takes as long as the rest of the command line

        typer.echo(f"iomine {__version__}")
        raise typer.Exit


def _iomine(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", metavar="FILE", help="Settings of the site.", show_default="$IOMINE_CONFIG, /etc/iomine/iomine.toml"
        ),
    ] = None,
    log_format: Annotated[
        LogFormat | None,
        typer.Option("--log-format", help="Format of stderr; json: one line per event.", show_default="text"),
    ] = None,
) -> None:
    """Read a computing centre's I/O logs, and say what is wrong, what it cost and what to change."""
    from iomine.config import CONFIG_VARIABLE, named_config, warehouse_of  # noqa: PLC0415  after --version

    if log_format is not None:
        os.environ[LOG_FORMAT_VARIABLE] = log_format
    if config is not None:
        os.environ[CONFIG_VARIABLE] = str(config.absolute())
    named = named_config()
    # Commands, and processes that they start, take their warehouse from there.
    if named is not None and "IOMINE_WAREHOUSE" not in os.environ:
        os.environ["IOMINE_WAREHOUSE"] = str(warehouse_of(named))
