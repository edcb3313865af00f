"""`iomine unpack`: the logs of an archive as files again."""
# ruff: noqa: PLC0415

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from iomine.cli.pack import DONE_WITH_REJECTS, show_rejects
from iomine.units import counted, json_line


def command(
    *,
    archive: Annotated[Path, typer.Argument(metavar="ARCHIVE", help="Folder that iomine pack has written, or a tar file.")],
    into: Annotated[Path, typer.Option("--into", metavar="DIR", help="Folder to write to; nothing is written outside it.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for machines.")] = False,
) -> None:
    """Write the logs of an archive as files, unchanged."""
    from iomine.cli.terminal.progress import progress_shown
    from iomine.pipeline.packing import unpack

    with progress_shown():
        done = unpack(archive, into)
    if as_json:
        typer.echo(json_line(asdict(done)))
    else:
        typer.echo(f"{counted(done.unpacked, 'log')} unpacked, {done.known:,} there already")
        show_rejects(done.rejects)
    if done.rejects:
        raise typer.Exit(DONE_WITH_REJECTS)
