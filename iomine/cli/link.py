"""`iomine link`: a signed link to a user's pages, or to a log's report."""
# ruff: noqa: PLC0415

import re
import time
from typing import Annotated, Final

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, Warehouse, database_of
from iomine.errors import UsageError

_LOG_ID: Final = re.compile("[0-9a-f]{16}")
_OF_LOG: Final = 'SELECT "user" FROM logs WHERE log_id = $1 AND "user" <> \'\' AND is_owner_confirmed IS DISTINCT FROM false'
_OF_USER: Final = 'SELECT "user" FROM logs WHERE "user" = $1 AND is_owner_confirmed IS DISTINCT FROM false LIMIT 1'
_SECONDS: Final = 24 * 3600


def command(
    whose: Annotated[str, typer.Argument(metavar="USER_OR_LOG", help="A login, or the id of a log.", show_default=False)],
    *,
    days: Annotated[
        int | None,
        typer.Option(
            "--days", metavar="N", min=1, max=366, help="Days for which the link is valid.", show_default="that of access.toml"
        ),
    ] = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Sign a link to a user's pages or a report that needs no login.

    Anyone who has the link sees what it leads to on `iomine serve`, until the link expires. The warehouse must have access.toml.
    """
    from iomine.pipeline.digest import site_settings
    from iomine.post.access import ACCESS_FILE, KEY_FILE, site_access
    from iomine.post.tokens import Pass, make_key, pass_signer_of
    from iomine.views.query import ask

    access = site_access(warehouse)
    if access is None:
        raise UsageError(f"There is no {warehouse / ACCESS_FILE}: without it the server knows nobody, and needs no links.")
    is_log = _LOG_ID.fullmatch(whose) is not None
    found = ask(database_of(warehouse), _OF_LOG if is_log else _OF_USER, [whose])["user"].to_pylist()
    if not found:
        raise UsageError(
            f"There is no log {'' if is_log else 'of '}{whose!r} whose owner is not in doubt: the view logs has all logs."
        )
    make_key(warehouse / KEY_FILE)
    until = int(time.time()) + (days or access.links.days) * _SECONDS
    token = pass_signer_of(warehouse / KEY_FILE).token(Pass(found[0], whose if is_log else "", until))
    typer.echo(f"{site_settings(warehouse).root}by/{token}/" + (f"reports/{whose}.html" if is_log else ""))
