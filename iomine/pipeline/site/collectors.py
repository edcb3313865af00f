"""Accounts that own files of logs which they did not write: programs that gather the logs of all users in one place."""

import os
import pwd
from collections.abc import Iterator

from iomine.config import Toml
from iomine.errors import UsageError
from iomine.lake import Warehouse
from iomine.pipeline.site.zones import Sources
from iomine.settings import read_site_file


def site_collectors(warehouse: Warehouse) -> tuple[int, ...]:
    """Uids of the collectors in `sources.toml` of the warehouse, and of who sweeps.

    Raises:
        UsageError: the file cannot be read, or something in it is not fit.
    """
    named = read_site_file(warehouse.root / "sources.toml", "settings of sources", parse_collectors)
    return (*named, os.geteuid())


def parse_collectors(toml: Toml) -> tuple[int, ...]:
    """Uids of the collectors, of a TOML file that lists them as `collectors`.

    Raises:
        UsageError: it is not TOML, has another form, or names a login that this host does not know.
    """
    return tuple(_uids(Sources.parse(toml).collectors))


def _uids(names: tuple[str, ...]) -> Iterator[int]:
    for name in names:
        try:
            yield int(name) if name.isdecimal() else pwd.getpwnam(name).pw_uid
        except KeyError:
            raise UsageError(f"There is no login {name!r} here: write its uid in collectors instead.") from None
