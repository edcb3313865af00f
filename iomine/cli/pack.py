"""`iomine pack`: many small logs in a few files, which sweeps read as they read folders."""
# ruff: noqa: PLC0415

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from iomine.cli.terminal.text import say
from iomine.units import counted, human_bytes, json_line

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE_WITH_REJECTS: Final = 3
_SHOWN_REJECTS: Final = 5


def command(
    *,
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", readable=False, help="Folders and files to look through for Darshan logs.")
    ],
    into: Annotated[Path, typer.Option("--into", metavar="ARCHIVE", help="Folder of the archive; several may pack at once.")],
    files: Annotated[int, typer.Option("--files", metavar="M", help="Over how many tar files logs are spread.")] = 1,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove each log once it was read back from the archive and is the same.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for machines.")] = False,
) -> None:
    """Pack logs, unchanged, into a few plain tar files with an index.

    A log is packed once, however often it is found. Sweep the archive as you would sweep the folder: it gives the same rows.
    """
    from iomine.cli.terminal.progress import progress_shown
    from iomine.pipeline.packing import pack

    with progress_shown():
        done = pack(paths, into, files, remove=remove)
    if as_json:
        typer.echo(json_line(asdict(done)))
    else:
        text = f"{counted(done.packed, 'log')} packed ({human_bytes(done.packed_bytes)}), {done.known:,} known"
        typer.echo(f"{text}, {done.removed:,} removed" if remove else text)
        if done.gaps:
            typer.echo(f"{counted(done.gaps, 'place')} in the archive that a killed writer left; nothing is lost with them.")
        show_rejects(done.rejects)
    if done.rejects:
        raise typer.Exit(DONE_WITH_REJECTS)


def show_rejects(rejects: "Sequence[tuple[str, str]]") -> None:
    """Says which files were left and why, the first few of them."""
    for path, reason in rejects[:_SHOWN_REJECTS]:
        say(f"{path}: {reason}")
    if len(rejects) > _SHOWN_REJECTS:
        say(f"{len(rejects) - _SHOWN_REJECTS:,} more; --json names all.")
