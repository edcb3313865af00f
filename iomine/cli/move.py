"""`iomine move`: makes the logs of one machine those of another."""
# ruff: noqa: PLC0415

from typing import Annotated

import typer

from iomine.cli.forget import Yes, confirm
from iomine.cli.options import DEFAULT_WAREHOUSE, Warehouse
from iomine.cli.terminal.text import say
from iomine.errors import UsageError
from iomine.units import counted


def command(
    *,
    cluster: Annotated[str, typer.Option("--cluster", metavar="NAME", help="The machine under which they were swept.")],
    to: Annotated[str, typer.Option("--to", metavar="NAME", help="The machine that they came from.")],
    yes: Yes = False,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Move the logs of one machine to another.

    Everything that is kept of the first machine is added to the second, and no log is read. What both have is judged as if it had
    been swept together.
    """
    from iomine.lake import Warehouse as Folder
    from iomine.pipeline.corrections import counted_logs, matter_of, move

    if cluster == to:
        raise UsageError(f"--cluster and --to are both {to}: name two machines.")
    folder = Folder(warehouse)
    matter = matter_of(folder, cluster, None, None)
    confirm(f"Move {counted(counted_logs(folder, matter), 'log')} of {cluster} to {to}?", yes=yes)
    move(folder, matter, to)
    say(f"{to} has them now.")
