"""`iomine digest`: mails to users, to those who answer for projects, and to operators."""
# ruff: noqa: PLC0415

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from iomine.cli.narrowing import Narrowing
from iomine.cli.options import DEFAULT_WAREHOUSE, Since, Warehouse, database_of
from iomine.cli.terminal.text import say
from iomine.errors import UsageError
from iomine.units import json_line, visible

if TYPE_CHECKING:
    from iomine.pipeline.digest import Done

_DONE_IN_PART: Final = 3
_MOST_PORT: Final = 65_535
_SHOWN: Final = 10


def command(
    *,
    user: Annotated[str | None, typer.Option("--user", metavar="U", help="Write to this user only.", show_default="all")] = None,
    project: Annotated[
        str | None,
        typer.Option("--project", metavar="ACCOUNT", help="Write about this project only.", show_default="all"),
    ] = None,
    operator: Annotated[bool, typer.Option("--operator", help="Write to operators only.")] = False,
    since: Since = None,
    outbox: Annotated[
        Path | None,
        typer.Option("--outbox", metavar="DIR", help="Write mails there.", show_default="to a mail server"),
    ] = None,
    smtp: Annotated[
        str | None,
        typer.Option("--smtp", metavar="HOST:PORT", help="Mail server.", show_default="that of digest.toml"),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write mails to the outbox as a preview, and note nothing.")] = False,
    takes: Annotated[bool, typer.Option("--take", help="Do what the mail on stdin asks for; a mail alias calls it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Mail users what is wrong with their runs, and what to change.

    A mail reports what is new since the last one; the first reports the last 14 nights. Project leads and operators get mails
    if digest.toml in the warehouse names them. A finding is mailed again only after cooldown_days (14, unless digest.toml sets
    another number), and no mail is empty. Exit status 3 means that a mail could not be sent.
    """
    if takes:
        from iomine.pipeline.digest import take_mail

        typer.echo(visible(take_mail(warehouse, sys.stdin.buffer.read())))
        return
    if sum((user is not None, project is not None, operator)) > 1:
        raise UsageError("--user, --project and --operator select different recipients: give one of them.")
    from iomine.pipeline.digest import Order, digest

    Narrowing(user=user, account=project).check(database_of(warehouse))
    server = None if smtp is None else _server(smtp)
    done = digest(Order(warehouse, user, project, operator, since, outbox, server, dry_run))
    if as_json:
        typer.echo(json_line(done.as_json()))
    else:
        show(done, "sent" if outbox is None else "written")
    if status := status_of(done):
        raise typer.Exit(status)


def status_of(done: "Done") -> int:
    """The exit status of a digest."""
    return 0 if done.post.is_whole else _DONE_IN_PART


def _server(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdecimal()) or not 0 < int(port) <= _MOST_PORT:
        raise UsageError(f"--smtp {text} is not HOST:PORT: write it as mail.site.org:25.")
    return host.removeprefix("[").removesuffix("]"), int(port)


def show(done: "Done", verb: str) -> None:
    """Writes what became of the mails, which were `sent` or `written`."""
    post = done.post
    counts = {
        verb: len(post.sent),
        "to be tried again": len(post.deferred) + len(post.in_doubt),
        "held": len(post.held),
        "refused": len(post.refused),
        "without an address": len(post.unknown),
        "waiting for the next run": len(post.waiting),
    }
    text = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count or what == verb)
    night = f", up to the night of {done.last_night}" if done.last_night else "; there are no logs yet"
    typer.echo(f"{text}{night}")
    for who in post.sent[:_SHOWN]:
        typer.echo(visible(f"  {verb} to {who}"))
    if len(post.sent) > _SHOWN:
        typer.echo(f"  and {len(post.sent) - _SHOWN:,} more")
    for who, why in [*post.refused, *post.deferred, *post.in_doubt][:_SHOWN]:
        say(f"{who}: {why}")
    for who in post.unknown[:_SHOWN]:
        say(f"{who}: no address is known")
    for fault in [*post.directory_faults[:_SHOWN], *filter(None, [post.fault])]:
        say(fault)
