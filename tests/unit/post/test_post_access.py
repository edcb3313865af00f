"""What a site sets of who sees what, what somebody is by that, and passes."""

import grp
import os
import pwd
import time
from pathlib import Path

import pytest

from iomine.errors import UsageError
from iomine.post.access import AccessSettings, Reader, Roles, login_of, proxy_secret, site_access
from iomine.post.tokens import Action, Pass, PassSigner, Signer, make_key, pass_signer_of

TEMPLATE = (Path(__file__).parents[3] / "deploy" / "access.toml").read_text(encoding="utf-8")
KEY = b"k" * 32
GIVEN = Pass("alice", "00000000000000aa", 2_000_000_000)


def test_the_template_says_what_ships():
    """It sets nothing as it is, and nothing else with every value uncommented."""
    values = [
        line.removeprefix("#") for line in TEMPLATE.splitlines() if line.startswith("[") or line[:1] == "#" != line[1:2] > " "
    ]
    assert AccessSettings() == AccessSettings.parse(TEMPLATE) == AccessSettings.parse("\n".join(values))


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("operator = ['a']", "There is no access setting operator: did you mean operators?"),
        ("[proxy]\nsecret = 'x'", "There is no access setting proxy.secret: did you mean"),
        ("[leads]\nchem = 'ada'", "leads.chem must be a list"),
        ("[proxy]\nuser_header = 'X User'", "'X User' is no header"),
        ("[proxy]\nuser_header = 'x-iomine-secret'", "must be two headers"),
        ("[links]\ndays = 0", "links.days must be"),
        ("everyone = 1", "everyone must be"),
    ],
)
def test_what_is_not_fit_is_reported(text, reported):
    """A name that there is not, with the nearest; a value of another kind."""
    with pytest.raises(UsageError) as error:
        AccessSettings.parse(text)
    assert reported in str(error.value)


def test_site_without_the_file_asks_nothing_and_one_that_cannot_be_read_is_no_such_site(tmp_path):
    """A link that leads nowhere does not open what it was to close."""
    assert site_access(tmp_path) is None
    (tmp_path / "access.toml").symlink_to(tmp_path / "none")
    with pytest.raises(UsageError, match="cannot be read"):
        site_access(tmp_path)


def test_roles():
    """The highest counts; leads have their accounts; by a link nobody is more than a user."""
    roles = Roles(
        AccessSettings.parse('operators = ["olga", "carla"]\nadmins = ["root"]\n[leads]\nchem = ["carla", "ada"]\nx = ["ada"]')
    )
    assert Reader("root", "admin", "proxy") == roles.reader("root", "proxy")
    assert Reader("carla", "operator", "proxy") == roles.reader("carla", "proxy")
    assert Reader("ada", "lead", "socket", frozenset({"chem", "x"})) == roles.reader("ada", "socket")
    assert Reader("bob", "user", "proxy") == roles.reader("bob", "proxy")
    assert {"user"} == {roles.reader(name, "link").role for name in ("root", "olga", "ada")}


def test_groups_of_the_host():
    """Members by the group's list or as their own first group are what the group is; a group that there is not is reported."""
    me = pwd.getpwuid(os.geteuid())
    roles = Roles(AccessSettings(admins=(f"@{grp.getgrgid(me.pw_gid).gr_name}",)))
    assert "admin" == roles.reader(me.pw_name, "proxy").role
    assert "user" == roles.reader("no-such-login", "proxy").role
    with pytest.raises(UsageError, match="There is no group 'no such'"):
        Roles(AccessSettings(leads={"x": ("@no such",)}))


def test_secret_of_the_proxy(tmp_path):
    """Its file is nobody else's; a short one is refused; without a file there is no proxy."""
    file = tmp_path / "proxy.secret"
    settings = AccessSettings.parse('[proxy]\nsecret_file = "proxy.secret"')
    assert proxy_secret(AccessSettings(), tmp_path) is None
    file.write_text("0123456789abcdef\n")
    file.chmod(0o640)
    with pytest.raises(UsageError, match="can be read by others"):
        proxy_secret(settings, tmp_path)
    file.chmod(0o600)
    assert b"0123456789abcdef" == proxy_secret(settings, tmp_path)
    file.write_text("short\n")
    with pytest.raises(UsageError, match="too short"):
        proxy_secret(settings, tmp_path)


def test_login_of_a_uid():
    """As this host has it."""
    assert "root" == login_of(0)
    assert login_of(4_000_000_000) is None


def test_passes():
    """A pass is what it was made as until it ends; what was changed, or made by another key or for mails, is none."""
    signer = PassSigner(KEY)
    token = signer.token(GIVEN)
    assert GIVEN == signer.given(token, GIVEN.until - 1)
    with pytest.raises(UsageError, match="has expired"):
        signer.given(token, GIVEN.until)
    of_mail = Signer(KEY).token(Action("stop", "user", "alice"))
    for strange in (token[:-1], f"{token}A", PassSigner(b"x" * 32).token(GIVEN), of_mail, "", "x" * 5000, "é"):
        with pytest.raises(UsageError, match="not valid"):
            signer.given(strange, 0)


def test_key_is_made_once_and_is_nobody_elses(tmp_path):
    """Links hold as long as the key does; without one none is known."""
    with pytest.raises(UsageError, match="not valid"):
        pass_signer_of(tmp_path / "access.key")
    make_key(tmp_path / "access.key")
    token = pass_signer_of(tmp_path / "access.key").token(GIVEN)
    make_key(tmp_path / "access.key")
    assert 0o600 == (tmp_path / "access.key").stat().st_mode & 0o777
    assert GIVEN == pass_signer_of(tmp_path / "access.key").given(token, time.time())
