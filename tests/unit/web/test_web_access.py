"""Who sees what on the server, and what is refused and noted."""

import html
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urljoin

import pytest
from access_facility import SECRET, ask_as, guarded, log_of, make_site, noted
from access_walk import PAGE, PATHS, Walk, names_in, page, walk
from starlette.routing import Route
from web_server import ask_server, served

from iomine.errors import OutputError, UsageError
from iomine.post.access import KEY_FILE, AccessSettings, site_access
from iomine.post.tokens import Pass, PassSigner, make_key, pass_signer_of
from iomine.web.access import AccessLog, doorkeeper_of
from iomine.web.app import make_app
from iomine.web.pages import style_name

LOGS = "/views/logs.json?columns=user"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with settings of access."""
    return make_site(tmp_path_factory.mktemp("access"))


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Where its server listens."""
    with guarded(site) as place:
        yield place


def beside(site: Path, folder: Path, settings: str | None = None) -> Path:
    """Another warehouse of the same lake, with settings of its own."""
    for name in ("iomine.duckdb", "access.toml", "proxy.secret"):
        shutil.copy(site / name, folder / name)
    if settings is not None:
        (folder / "access.toml").write_text(settings, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    """Every route as each reader."""
    return walk(make_site(tmp_path_factory.mktemp("walk")))


@pytest.mark.proof
def test_table_of_routes_is_what_came_out(walked):
    """docs/access_routes.md says what each reader is answered; `python tests/access_walk.py` writes it anew."""
    assert page(walked) == PAGE.read_text(encoding="utf-8")


@pytest.mark.proof
def test_nobody_sees_a_name_that_is_not_theirs(walked):
    """Whatever is asked: users see their own, a lead those of the account, and who is not known nothing."""
    may = {
        "nobody": set(), "alice": {"alice"}, "bob": {"bob"}, "carla, lead": {"alice", "carla", "dora"}, "mallory": set(),
        "alice's link": {"alice"}, "a log's link": {"alice"},
    }  # fmt: skip
    seen = {reader: {name for path in PATHS for name in names_in(walked[path, reader])} for reader in may}
    assert may == seen


def test_every_route_is_walked(site):
    """A new route is asked for in the table, too."""
    patterns = [route.path_regex for route in make_app(site, ()).routes if isinstance(route, Route)]
    paths = [path.partition("?")[0] for path in PATHS]
    assert [] == [each.pattern for each in patterns if "assets" not in each.pattern and not any(map(each.match, paths))]


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Iomine-User": "root"},
        {"X-Iomine-User": "root", "X-Iomine-Secret": ""},
        {"X-Iomine-User": "root", "X-Iomine-Secret": SECRET[:-1]},
        {"X-Iomine-User": "root", "X-Iomine-Secret": SECRET + "é"},
        {"X-Iomine-User": "root", "x-iomine-user": "alice", "X-Iomine-Secret": SECRET},
        {"X-Iomine-User": "alice", "X-Iomine-Secret": SECRET, "x-iomine-secret": "other"},
        {"X-Iomine-User": "../root", "X-Iomine-Secret": SECRET},
        {"X-Iomine-User": "a b", "X-Iomine-Secret": SECRET},
        {"X-Iomine-User": "", "X-Iomine-Secret": SECRET},
        {"X-Iomine-Secret": SECRET},
        {"X-Forwarded-User": "root", "Remote-User": "root"},
        {},
    ],
)
def test_forged_headers_are_refused(address, headers):
    """A name counts with the secret only, and only one; a secret without a name is nobody."""
    for path in ("/", LOGS, f"/reports/{log_of('alice')}.html", "/nowhere"):
        reply = ask_server(address, path, **headers)
        assert 403 == reply.status
        assert [] == names_in(reply)


def test_page_that_is_kept_is_kept_for_its_reader(address):
    """The same address gives each reader theirs, also when it was just made for another."""
    for user, seen in (("alice", {"alice"}), ("bob", {"bob"}), ("alice", {"alice"}), ("carla", {"alice", "carla", "dora"})):
        for path in ("/views/logs?columns=user,log_id", LOGS):
            assert seen == set(names_in(ask_as(address, user, path)))
    assert "private" in ask_as(address, "alice", "/views/logs?columns=user,log_id").headers["cache-control"]


def test_links(address, site):
    """A user's link leads to their pages, and what these lead to; that of a log to its report; ended and strange ones to none."""
    make_key(site / KEY_FILE)
    signer, until = pass_signer_of(site / KEY_FILE), int(time.time()) + 60
    mine = f"by/{signer.token(Pass('alice', '', until))}/"
    found = ask_server(address, f"/{mine}views/logs?columns=user,log_id")
    assert ["alice"] == names_in(found)
    leads = [urljoin(f"/{mine}views/logs", html.unescape(href)) for href in re.findall(r'href="([^"#]+)"', found.text)]
    assert all(place.startswith(f"/{mine}") for place in leads if not place.startswith("data:"))
    # A page has the same bounds whichever way leads to it.
    for path in ("/reports/x.html", "/views/logs", "/mail/x"):
        direct, below = (ask_server(address, place).headers["content-security-policy"] for place in (path, f"/{mine[:-1]}{path}"))
        assert direct == below
    # Who leads a project does so with a login only.
    assert ["carla"] == names_in(ask_server(address, f"/by/{signer.token(Pass('carla', '', until))}{LOGS}"))
    one = signer.token(Pass("alice", log_of("alice"), until))
    assert 200 == ask_server(address, f"/by/{one}/traces/{log_of('alice')}.parquet").status
    for path in ("/", LOGS, f"/reports/{log_of('alice', 1)}.html", "/reports/../views/logs", "/circle"):
        assert 403 == ask_server(address, f"/by/{one}{path}").status
    # It is the user's log that a link leads to, whatever it says.
    assert (
        404
        == ask_server(address, f"/by/{signer.token(Pass('alice', log_of('bob'), until))}/traces/{log_of('bob')}.parquet").status
    )
    expired, foreign = signer.token(Pass("alice", "", until - 61)), PassSigner(b"x" * 32).token(Pass("alice", "", until))
    for token, reported in ((expired, "has expired"), (foreign, "not valid"), (mine[3:-2], "not valid"), ("", "not valid")):
        reply = ask_server(address, f"/by/{token}{LOGS}")
        assert (403, True) == (reply.status, reported in reply.text)
        # A header that would count does not help a link that does not.
        assert 403 == ask_as(address, "root", f"/by/{token}{LOGS}").status


def test_access_log(site, tmp_path):
    """A line for each answer: who, when, what, how it ended; no question, no token, no secret; nobody else may read it."""
    site = beside(site, tmp_path)
    make_key(site / KEY_FILE)
    token = pass_signer_of(site / KEY_FILE).token(Pass("bob", "", int(time.time()) + 60))
    with guarded(site) as address:
        ask_as(address, "alice", "/views/trends.json?night.ge=2024-03-17")
        ask_server(address, f"/by/{token}/views/trends.json")
        ask_server(address, "/views/", **{"X-Iomine-User": "root", "X-Iomine-Secret": "guessed-secret"})
        ask_server(address, "/mail/a-token-of-a-mail", "POST")
        ask_server(address, f"/by/{token}")
        ask_as(address, "alice", f"//by//{token}")
        ask_server(address, f"/by/{token}/by/{token}")
        ask_server(address, "/%0a%1b[2J%e2%80%ae")
    text = (site / "access.jsonl").read_text(encoding="utf-8")
    assert [
        ("alice", "user", "proxy", "GET", "/views/trends.json", 200),
        ("bob", "user", "link", "GET", "/views/trends.json", 200),
        (None, None, None, "GET", "/views/", 403),
        (None, None, None, "POST", "/mail/…", 400),
        (None, None, None, "GET", "/by/…", 403),
        ("alice", "user", "proxy", "GET", "//by/…", 404),
        ("bob", "user", "link", "GET", "/by/…", 404),
        (None, None, None, "GET", r"'/\n\x1b[2J\u202e'", 403),
    ] == [tuple(line[key] for key in ("who", "role", "way", "method", "route", "status")) for line in noted(site)]
    assert not [secret for secret in (token, SECRET, "guessed", "2024-03-17", "a-token") if secret in text]
    assert 0o600 == (site / "access.jsonl").stat().st_mode & 0o777


def test_a_line_that_is_written_in_part_is_an_error(tmp_path, monkeypatch):
    """A disk that becomes full takes a part of a line; who asks is then not answered."""
    log, system_write = AccessLog(tmp_path / "access.jsonl"), os.write
    monkeypatch.setattr(os, "write", lambda file, text: system_write(file, text[:5]))
    with closing(log), pytest.raises(OSError, match="No space left"):
        log.note({"who": "alice"})


def test_log_that_cannot_be_written_is_reported(tmp_path):
    """A server that is to note who asked does not start without."""
    with pytest.raises(OutputError, match=r"access log .* cannot be written"):
        doorkeeper_of(AccessSettings(log="no/such/folder.jsonl"), tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError, match="access log"):
        doorkeeper_of(AccessSettings(log="link"), tmp_path)


def test_site_that_is_open_says_so_itself(site, tmp_path):
    """With `everyone` all is shown to all, and a header that names somebody makes nobody less or more."""
    site = beside(site, tmp_path, "everyone = true")
    with guarded(site) as address:
        assert 5 == len(names_in(ask_server(address, LOGS)))
        assert 5 == len(names_in(ask_server(address, LOGS, **{"X-Iomine-User": "alice"})))
    (site / "access.toml").unlink()
    with served(site) as address:
        assert 5 == len(names_in(ask_server(address, LOGS)))


def test_empty_file_closes(site, tmp_path):
    """The file alone is the wish: nobody is known, so nobody sees anything, but links of mails work as before."""
    site = beside(site, tmp_path, "")
    with guarded(site) as address:
        assert 403 == ask_server(address, LOGS).status
        assert 403 == ask_as(address, "root", LOGS).status
        assert 400 == ask_server(address, "/mail/x").status
        assert 200 == ask_server(address, f"/assets/{style_name()}").status


def test_secret_that_others_may_read_is_refused(site, tmp_path):
    """It would be no secret."""
    site = beside(site, tmp_path)
    (site / "proxy.secret").chmod(0o644)
    with pytest.raises(UsageError, match="can be read by others"):
        doorkeeper_of(site_access(site) or AccessSettings(), site)
