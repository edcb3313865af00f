"""Who is who: the address of a user, from where the site keeps it. No address is guessed: a user who is not found is unknown."""

import csv
import pwd
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any, Final, Protocol

from iomine.errors import OutputError, UsageError
from iomine.post.addresses import is_address, plain_name
from iomine.post.settings import DirectorySettings
from iomine.settings import read_secret
from iomine.units import visible

_LONGEST_USER: Final = 256
_COLUMNS: Final = (2, 3)


@dataclass(frozen=True, slots=True)
class Person:
    """A person who gets mail.

    Attributes:
        address: of ASCII signs that need no quotes.
        name: plain, or empty.
    """

    address: str
    name: str = ""


class Directory(Protocol):
    """Where addresses are looked up."""

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with it, in sentences."""

    def find(self, user: str) -> Person | None:
        """A person by user name, None where the name is unknown.

        Raises:
            OutputError: the directory cannot be asked.
        """


def directory_of(settings: DirectorySettings, folder: Path) -> Directory:
    """The directory of a site.

    Args:
        settings: which, and where.
        folder: that relative paths start from.

    Raises:
        UsageError: what the settings name cannot be used.
    """
    match settings.kind:
        case "csv":
            return CsvDirectory(folder / settings.file)
        case "passwd":
            return PasswdDirectory(settings.template)
        case "ldap":
            return LdapDirectory(settings, ldap_connection(settings, folder))
        case _:
            return TemplateDirectory(settings.template)


def is_user(text: str) -> bool:
    """Whether a text can be a user's name at all: one printable line that is not long."""
    return 0 < len(text) <= _LONGEST_USER and text.isprintable()


@dataclass(frozen=True, slots=True)
class TemplateDirectory:
    """Everybody whose name can stand in an address has that address.

    Args:
        template: with `{user}` in it.
    """

    template: str
    faults: tuple[str, ...] = ()

    def find(self, user: str) -> Person | None:
        """A person by user name."""
        address = self.template.replace("{user}", user)
        # The name must not bring an @ of its own, or half of another address.
        return Person(address) if is_address(f"{user}@x") and is_address(address) else None


@dataclass(frozen=True, slots=True)
class PasswdDirectory:
    """Those whom the system knows, by its files, LDAP or what else it is configured to ask, at the template's address.

    Args:
        template: with `{user}` in it.
    """

    template: str
    faults: tuple[str, ...] = ()

    def find(self, user: str) -> Person | None:
        """A person by user name."""
        try:
            entry = pwd.getpwnam(user)
        # A name may hold characters that the system refuses.
        except (KeyError, ValueError):
            return None
        found = TemplateDirectory(self.template).find(user)
        # Some systems find a name in another case, which may be another person.
        if found is None or entry.pw_name != user:
            return None
        return Person(found.address, plain_name(entry.pw_gecos.partition(",")[0].replace("&", user.capitalize())))


class CsvDirectory:
    """Those whom a file names, in lines `user,address` or `user,address,name`.

    Args:
        file: UTF-8. Empty lines and those that begin with # say nothing.

    Raises:
        UsageError: it cannot be read.
    """

    def __init__(self, file: Path) -> None:
        try:
            text = file.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"The addresses in {file} cannot be read: name a readable file of UTF-8 text.") from error
        self._people: dict[str, Person] = {}
        self._faults: list[str] = []
        twice: set[str] = set()
        for number, row in _rows(text):
            person, fault = _person_of(row)
            user = row[0].strip()
            if person is None:
                self._faults.append(f"Line {number} of {file} {fault}.")
            elif self._people.setdefault(user, person).address != person.address:
                self._faults.append(f"Line {number} of {file} gives {visible(user)} another address: they get no mails.")
                twice.add(user)
        for user in twice:
            del self._people[user]

    @property
    def faults(self) -> tuple[str, ...]:
        """Faults: lines that cannot be read, or contradict an earlier line."""
        return tuple(self._faults)

    def find(self, user: str) -> Person | None:
        """A person by user name."""
        return self._people.get(user)


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(StringIO(text, newline=""))
    while True:
        try:
            row = next(reader, None)
        except csv.Error:
            row = ["", ""]
        if row is None:
            return
        if row and row != [""] and not row[0].startswith("#"):
            yield reader.line_num, row


def _person_of(row: list[str]) -> tuple[Person | None, str]:
    """Whom a line names, or what is wrong with it."""
    cells = [cell.strip() for cell in row]
    if len(cells) not in _COLUMNS:
        return None, "is not of the form user,address or user,address,name"
    if not is_user(cells[0]):
        return None, "has no user's name"
    if not is_address(cells[1]):
        return None, f"has no address that every mail server takes: {visible(cells[1][:80])!r}"
    return Person(cells[1], plain_name("".join(cells[2:]))), ""


@dataclass(slots=True)
class LdapDirectory:
    """Those whom an LDAP server knows; asked once for each.

    Args:
        settings: what to ask.
        connect: opens a connection of ldap3.
    """

    settings: DirectorySettings
    connect: Callable[[], Any]
    faults: tuple[str, ...] = ()
    _connection: Any = field(default=None, init=False)

    def find(self, user: str) -> Person | None:
        """A person by user name, None also where several have that name or there are several addresses."""
        from ldap3.core.exceptions import LDAPException  # noqa: PLC0415  an extra
        from ldap3.utils.conv import escape_filter_chars  # noqa: PLC0415  an extra

        asked = self.settings.filter.replace("{user}", escape_filter_chars(user))
        try:
            if self._connection is None:
                self._connection = self.connect()
            self._connection.search(self.settings.base, asked, attributes=[self.settings.address, self.settings.name])
        except (LDAPException, OSError) as error:
            reason = visible(str(error))[:200]
            raise OutputError(
                f"The LDAP server {self.settings.server} cannot be asked ({reason}): nothing new was sent."
            ) from error
        found = [each["attributes"] for each in self._connection.response or () if each["type"] == "searchResEntry"]
        addresses = [_texts(entry.get(self.settings.address)) for entry in found]
        if len(found) != 1 or len(addresses[0]) != 1 or not is_address(addresses[0][0]):
            return None
        return Person(addresses[0][0], plain_name(" ".join(_texts(found[0].get(self.settings.name))[:1])))


def ldap_connection(settings: DirectorySettings, folder: Path) -> Callable[[], Any]:
    """What opens a connection to the server of the settings.

    Raises:
        UsageError: the package is missing, or the password cannot be read.
    """
    try:
        import ldap3  # noqa: PLC0415  an extra
    except ImportError as error:
        raise UsageError("The package ldap3 is missing: pip install 'iomine[ldap]'.") from error
    password = None
    if settings.password_file:
        password = read_secret(folder / settings.password_file, "password").decode("utf-8", "replace").rstrip("\r\n")

    def connect() -> Any:  # noqa: ANN401  ldap3 is untyped
        import ssl  # noqa: PLC0415

        ca_file = str(folder / settings.ca_file) if settings.ca_file else None
        tls = ldap3.Tls(validate=ssl.CERT_REQUIRED, ca_certs_file=ca_file)
        server = ldap3.Server(settings.server, tls=tls, connect_timeout=settings.timeout_seconds, get_info=ldap3.NONE)
        is_upgraded = settings.tls == "starttls" and settings.server.startswith("ldap://")
        return ldap3.Connection(
            server,
            user=settings.user or None,
            password=password,
            read_only=True,
            receive_timeout=settings.timeout_seconds,
            raise_exceptions=True,
            auto_bind=ldap3.AUTO_BIND_TLS_BEFORE_BIND if is_upgraded else ldap3.AUTO_BIND_NO_TLS,
        )

    return connect


def _texts(value: object) -> list[str]:
    """The values of an attribute, of which ldap3 gives one as such and more as a list."""
    values = value if isinstance(value, list) else [value]
    return [text for each in values if (text := each.decode("utf-8", "replace") if isinstance(each, bytes) else str(each or ""))]
