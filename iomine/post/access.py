"""Who may see what in a browser: a site's settings, and what somebody is by them."""

import grp
import os
import pwd
import re
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from iomine.errors import UsageError
from iomine.settings import Line, Lines, SiteSettings, has_site_file, read_secret, read_site_file, setting

ACCESS_FILE: Final = "access.toml"
KEY_FILE: Final = "access.key"
_HEADER: Final = re.compile("[A-Za-z][A-Za-z0-9-]*")
_SHORTEST_SECRET: Final = 16
_GROUPS_HOLD_SECONDS: Final = 300

Role = Literal["user", "lead", "operator", "admin"]
Way = Literal["open", "proxy", "link", "socket"]


class ProxySettings(SiteSettings):
    """The web server before `iomine serve`."""

    whose: ClassVar[str] = "proxy"
    user_header: Line = setting("X-Iomine-User", "Header in which it names who is logged in.")
    secret_header: Line = setting("X-Iomine-Secret", "Header in which it proves to be the proxy.")
    secret_file: Line = setting(
        "", "A file with the secret, seen from the warehouse, which nobody else may read; empty: no proxy."
    )

    @model_validator(mode="after")
    def _is_fit(self) -> Self:
        for name in (self.user_header, self.secret_header):
            if not _HEADER.fullmatch(name):
                raise UsageError(f"{name!r} is no header: write one such as X-Iomine-User.")
        if self.user_header.lower() == self.secret_header.lower():
            raise UsageError("proxy.user_header and proxy.secret_header must be two headers.")
        return self


class LinkSettings(SiteSettings):
    """Signed links, which need no login."""

    whose: ClassVar[str] = "links"
    in_mails: bool = setting(False, "Whether links of mails to reports are signed, so that they open without a login.")
    days: Annotated[int, Field(ge=1, le=366)] = setting(30, "Days for which such a link holds.")


class AccessSettings(SiteSettings):
    """Who sees what. Files are seen from the warehouse."""

    whose: ClassVar[str] = "access"
    everyone: bool = setting(False, "Whether everyone who reaches the server sees everything, as without access.toml.")
    log: Line = setting("access.jsonl", "File that says who asked for what, a line of JSON each; empty: none.")
    operators: Lines = setting((), "Logins, or groups of this host as @group, that see everything but mails.")
    admins: Lines = setting((), "Logins, or groups of this host as @group, that see everything.")
    leads: Mapping[str, Lines] = setting({}, 'Who sees all runs of an account, such as chem042 = ["ada", "@chem"].')
    proxy: ProxySettings = setting(ProxySettings(), "The web server before iomine serve, which says who is logged in.")
    links: LinkSettings = setting(LinkSettings(), "Signed links to a log's report, or to a user's pages.")


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody who asks.

    Attributes:
        name: the login.
        role: what they are.
        way: how that is known.
        accounts: whose runs they see beside their own.
        log_id: the only log that they see, None for all of theirs.
    """

    name: str
    role: Role
    way: Way
    accounts: frozenset[str] = frozenset()
    log_id: str | None = None

    @property
    def sees_all_runs(self) -> bool:
        """Whether they see more than some users' runs."""
        return self.role in {"operator", "admin"}


# The reader at a site that does not ask who somebody is.
EVERYONE: Final = Reader("", "admin", "open")


class Roles:
    """What logins are at a site.

    Args:
        settings: the site's.

    Raises:
        UsageError: this host does not know a group.
    """

    def __init__(self, settings: AccessSettings) -> None:
        self._settings = settings
        for name in (*settings.operators, *settings.admins, *(each for names in settings.leads.values() for each in names)):
            if name.startswith("@"):
                try:
                    grp.getgrnam(name[1:])
                except KeyError:
                    raise UsageError(f"There is no group {name[1:]!r} here: write logins, or a group of this host.") from None

    def reader(self, name: str, way: Way) -> Reader:
        """The reader behind a login; a link makes nobody more than a user, because it may be handed on."""
        settings = self._settings
        if way != "link":
            if _is_among(name, settings.admins):
                return Reader(name, "admin", way)
            if _is_among(name, settings.operators):
                return Reader(name, "operator", way)
            if accounts := frozenset(account for account, names in settings.leads.items() if _is_among(name, names)):
                return Reader(name, "lead", way, accounts)
        return Reader(name, "user", way)


def site_access(root: Path) -> AccessSettings | None:
    """A site's settings, None where it has none, so that only this host's loopback is served, to everybody.

    Raises:
        UsageError: the file cannot be read, or something in it is not fit.
    """
    file = root / ACCESS_FILE
    if not has_site_file(file):
        return None
    # A dangling symbolic link is a file that cannot be read.
    return read_site_file(file, "settings of access", AccessSettings.parse, is_needed=os.path.lexists(file))


def proxy_secret(settings: AccessSettings, root: Path) -> bytes | None:
    """The secret of the proxy, None where there is no proxy.

    Raises:
        UsageError: it cannot be read, can be read by others, or is too short.
    """
    if not settings.proxy.secret_file:
        return None
    file = root / settings.proxy.secret_file
    secret = read_secret(file, "secret of the proxy").strip()
    if len(secret) < _SHORTEST_SECRET:
        raise UsageError(f"The secret of the proxy {file} is too short: `openssl rand -hex 32` makes one.")
    return secret


def login_of(uid: int) -> str | None:
    """The login of a uid, None where this host knows none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


def _is_among(name: str, listed: Collection[str]) -> bool:
    groups = {each[1:] for each in listed if each.startswith("@")}
    return name in listed or bool(groups and groups & _groups_of(name, int(time.monotonic()) // _GROUPS_HOLD_SECONDS))


@lru_cache(maxsize=1024)
def _groups_of(name: str, _moment: int) -> frozenset[str]:
    """Groups of a login, which are looked up every few minutes."""
    found = set()
    with suppress(KeyError, ValueError):
        for gid in os.getgrouplist(name, pwd.getpwnam(name).pw_gid):
            with suppress(KeyError):
                found.add(grp.getgrgid(gid).gr_name)
    return frozenset(found)
