"""Who is who: known people are found, and nobody's address is guessed."""

import pwd
from pathlib import Path

import ldap3
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iomine.errors import OutputError, UsageError
from iomine.post.addresses import is_address, plain_name
from iomine.post.directory import CsvDirectory, LdapDirectory, PasswdDirectory, Person, TemplateDirectory, directory_of
from iomine.post.settings import DirectorySettings

HOSTILE = [
    "",
    "root\nBcc: all@site.test",
    "ada@elsewhere.test",
    "ada@elsewhere.test,bob",
    "a b",
    "a\0",
    "\u202eada",
    "ada\u200b",
    "größe",
    ".ada",
    "ada..b",
    '"ada"',
    "<ada>",
    "ada,bob",
    "x" * 65,
    "*",
    "*)(uid=*",
    "{user}",
    "\udc80",
]


@pytest.mark.parametrize("user", [user for user in HOSTILE if user not in {"*", "{user}"}])
def test_template_takes_only_names_that_fit(user):
    """What would make another address, several, or none is nobody."""
    assert TemplateDirectory("{user}@site.test").find(user) is None


def test_template():
    """The name stands where the template says."""
    assert Person("ada-l.2@site.test") == TemplateDirectory("{user}@site.test").find("ada-l.2")
    assert Person("io+ada@site.test") == TemplateDirectory("io+{user}@site.test").find("ada")
    assert Person("io@ada.site.test") == TemplateDirectory("io@{user}.site.test").find("ada")
    assert TemplateDirectory("io@{user}.site.test").find("a_b") is None


@given(st.text(max_size=40))
def test_addresses_have_one_at_and_no_room_for_more(text):
    """Of any text, what counts as an address is one: printable ASCII, one @, no space, comma, quote or bracket."""
    for address in (text, f"{text}@site.test", f"a@{text}"):
        if is_address(address):
            assert address.isascii()
            assert address.isprintable()
            assert 1 == address.count("@")
            assert not set(address) & set(' ,;:<>()[]\\"')


@given(st.text(max_size=200))
def test_names_are_plain(text):
    """Whatever a directory says, a name is one printable line that needs no quotes."""
    name = plain_name(text)
    assert name.isprintable()
    assert len(name) <= 80
    assert not set(name) & set('@,;:<>()[]\\".=?')


CSV = """\
# who,where,what
ada,ada.lovelace@site.test,"Lovelace, Ada"
 bob , bob@site.test

cyd,cyd@site.test,
cyd,cyd@site.test,Again
dan,dan@site.test
dan,other@site.test
eve
fay,fay at site
gus,gus@site.test,Gus,more
"root
Bcc: all@site.test",root@site.test
,nobody@site.test
hal,"hal@site.test\nBcc: all@site.test"
größe,groesse@site.test,Größe
"""


def test_csv(tmp_path):
    """Lines that are fit count; others are reported with their number, and a user with two addresses has none."""
    (tmp_path / "people.csv").write_text(CSV, encoding="utf-8")
    directory = CsvDirectory(tmp_path / "people.csv")
    found = {
        user: directory.find(user)
        for user in ("ada", "bob", "cyd", "dan", "eve", "fay", "gus", "hal", "größe", "Ada", "", *HOSTILE)
    }
    assert {
        "ada": Person("ada.lovelace@site.test", "Lovelace Ada"),
        "bob": Person("bob@site.test"),
        "cyd": Person("cyd@site.test"),
        "größe": Person("groesse@site.test", "Größe"),
    } == {user: person for user, person in found.items() if person}
    assert ["8", "9", "10", "11", "13", "14", "16"] == [fault.split()[1] for fault in directory.faults]
    assert directory.faults[0].endswith("gives dan another address: they get no mails.")
    assert directory.faults[1].endswith("is not of the form user,address or user,address,name.")
    assert directory.faults[2].endswith("has no address that every mail server takes: 'fay at site'.")
    assert directory.faults[4].endswith("has no user's name.")
    assert all(fault.isprintable() for fault in directory.faults)


def test_csv_that_cannot_be_read(tmp_path):
    """In a sentence; and cells that are too long for Python's reader cost their line only."""
    with pytest.raises(UsageError, match="cannot be read: name a readable file of UTF-8 text"):
        CsvDirectory(tmp_path / "none.csv")
    (tmp_path / "latin.csv").write_bytes("größe,a@b".encode("latin-1"))
    with pytest.raises(UsageError, match="cannot be read: name a readable file of UTF-8 text"):
        CsvDirectory(tmp_path / "latin.csv")
    (tmp_path / "long.csv").write_text(f"ada,a@b\n{'x' * 200_000},a@b\nbob,b@b\n")
    directory = CsvDirectory(tmp_path / "long.csv")
    assert (Person("a@b"), Person("b@b")) == (directory.find("ada"), directory.find("bob"))
    assert 1 == len(directory.faults)


def test_passwd(monkeypatch):
    """The system's users have the template's address and the name of their entry; a name in another case is nobody's."""
    entries = {"ada": "Ada Lovelace,Room 7,,", "bob": "& the Builder", "dom\\cyd": "Cyd", "dan": "<b>Dan</b>\n@x"}

    def find(user: str) -> pwd.struct_passwd:
        name = {entry.casefold(): entry for entry in entries}[user.casefold()]
        return pwd.struct_passwd((name, "x", 1000, 1000, entries[name], "/", "/bin/sh"))

    monkeypatch.setattr(pwd, "getpwnam", find)
    directory = PasswdDirectory("{user}@site.test")
    users = ("ada", "bob", "dom\\cyd", "dan", "Ada", "eve")
    assert {
        "ada": Person("ada@site.test", "Ada Lovelace"),
        "bob": Person("bob@site.test", "Bob the Builder"),
        "dan": Person("dan@site.test", "b Dan b x"),
    } == {user: person for user in users if (person := directory.find(user))}


@pytest.mark.parametrize("user", ["a\0b", "no such user", "", "\udc80"])
def test_passwd_of_this_system(user):
    """What no system knows is unknown here too, whatever is in it."""
    assert PasswdDirectory("{user}@site.test").find(user) is None
    assert Person("root@site.test", plain_name(pwd.getpwnam("root").pw_gecos)) == PasswdDirectory("{user}@site.test").find("root")


LDAP = DirectorySettings(kind="ldap", server="ldap://ldap.site.test", base="ou=people,dc=site")


@pytest.fixture
def ldap():
    """An LDAP server with people in it."""
    connection = ldap3.Connection(ldap3.Server("mock"), client_strategy=ldap3.MOCK_SYNC, raise_exceptions=True)
    people = {
        "ada": {"mail": "ada@site.test", "cn": "Ada Lovelace"},
        "bob": {"mail": ["bob@site.test", "bob@elsewhere.test"], "cn": "Bob"},
        "cyd": {"cn": "Cyd"},
        "dan": {"mail": "dan@site.test\nBcc: all@site.test", "cn": "Dan"},
        "eve": {"mail": "eve@site.test", "cn": ["Eve\nBcc: all@site.test", "Evelyn"]},
        "fay (x)*": {"mail": "fay@site.test", "cn": "Fay"},
    }
    for number, (user, values) in enumerate(people.items()):
        connection.strategy.add_entry(f"cn=p{number},ou=people,dc=site", values | {"uid": user, "objectClass": "person"})
    for number in (1, 2):
        values = {"uid": "two", "mail": f"two{number}@site.test", "objectClass": "person"}
        connection.strategy.add_entry(f"cn=two{number},ou=people,dc=site", values)
    connection.bind()
    return LdapDirectory(LDAP, lambda: connection)


def test_ldap(ldap):
    """One entry with one address is somebody; several, none or what is no address is nobody."""
    users = ("ada", "bob", "cyd", "dan", "eve", "fay (x)*", "two", "zoe")
    assert {
        "ada": Person("ada@site.test", "Ada Lovelace"),
        "eve": Person("eve@site.test", "Eve Bcc all site test"),
        "fay (x)*": Person("fay@site.test", "Fay"),
    } == {user: person for user in users if (person := ldap.find(user))}


@pytest.mark.parametrize("user", ["*", "a*", "*)(mail=*", "ada)(|(uid=*", "ad\\61", "\0"])
def test_names_cannot_change_what_ldap_is_asked(ldap, user):
    """A user's name is compared as it is, whatever signs of filters are in it."""
    assert ldap.find(user) is None


def test_ldap_that_does_not_answer():
    """A server that is not there ends the run with a sentence: to go on would list everybody as unknown."""

    def connect() -> object:
        raise ldap3.core.exceptions.LDAPSocketOpenError("unable to open socket\n\x1b[2J")

    with pytest.raises(
        OutputError, match=r"^The LDAP server ldap://ldap\.site\.test cannot be asked \(unable to open socket"
    ) as error:
        LdapDirectory(LDAP, connect).find("ada")
    assert str(error.value).isprintable()


def test_settings_choose_the_directory(tmp_path):
    """Files are seen from the warehouse; a password that others may read is not used."""
    (tmp_path / "people.csv").write_text("ada,a@b\n")
    assert isinstance(directory_of(DirectorySettings(kind="csv", file="people.csv"), tmp_path), CsvDirectory)
    assert isinstance(directory_of(DirectorySettings(kind="passwd"), tmp_path), PasswdDirectory)
    assert Person("ada@localhost") == directory_of(DirectorySettings(), Path()).find("ada")
    assert isinstance(directory_of(LDAP, tmp_path), LdapDirectory)
    secret = tmp_path / "secret"
    secret.write_text("x")
    secret.chmod(0o644)
    with pytest.raises(UsageError, match="can be read by others"):
        directory_of(LDAP.changed(user="cn=x", password_file=secret.name), tmp_path)


def test_ldap_over_the_network_must_be_there():
    """A port where nobody listens is reported as what it is."""
    unreached = LDAP.changed(server="ldap://127.0.0.1:1", timeout_seconds=2)
    with pytest.raises(OutputError, match=r"The LDAP server ldap://127\.0\.0\.1:1 cannot be asked"):
        directory_of(unreached, Path()).find("ada")
