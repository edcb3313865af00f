"""Links in mails, on the server: looking does nothing, pressing does."""

import datetime as dt
import http.client
import re
from dataclasses import replace
from pathlib import Path

import pytest
from outline import Outline
from post_office import entry, mail_to, office
from web_server import ask_server, served

from iomine.post.deliver import deliver
from iomine.post.ledger import Ledger
from iomine.post.tokens import Action, Signer, signer_with_key

MAILED = entry("ada", application="<b>lmp</b>")
KEY = MAILED.subject.key
ACTIONS = [
    (Action("stop", "user", "ada"), "From now on, you get no more digests."),
    (Action("acknowledge", "user", "ada", KEY), "From now on, you get no word of “Title of POSIX-101” in <b>lmp</b>."),
    (Action("snooze", "user", "ada", KEY, 30), "From now on, you get no word of “Title of POSIX-101” in <b>lmp</b> for 30 days."),
    (Action("stop", "project", "<script>"), "From now on, the lead of <script> gets no more digests."),
]


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """One whose ledger knows a mail about a program with a hostile name."""
    with Ledger(tmp_path / "digest.sqlite") as ledger:
        deliver([mail_to("ada", MAILED)], office(ledger))
    return tmp_path


@pytest.fixture
def signer(warehouse: Path) -> Signer:
    return signer_with_key(warehouse / "digest.key")


def wishes(warehouse: Path, action: Action) -> dict[tuple[str, str], dt.date]:
    with Ledger(warehouse / "digest.sqlite") as ledger:
        return dict(ledger.wishes(action.kind, action.recipient))


@pytest.mark.parametrize(("action", "reported"), ACTIONS)
def test_looking_changes_nothing_and_pressing_does(warehouse, signer, action, reported):
    """Programs that look at links do no harm; the page says what would be done, has one button, and no script."""
    with served(warehouse) as address:
        path = f"/mail/{signer.token(action)}"
        for method in ("GET", "HEAD", "GET"):
            looked = ask_server(address, path, method)
            assert 200 == looked.status
        assert {} == wishes(warehouse, action)
        done = ask_server(address, path, "POST")
    today = dt.datetime.now(dt.UTC).date()
    assert {(action.verb, action.key): today + dt.timedelta(days=30) if action.days else dt.date.max} == wishes(warehouse, action)
    before, after = Outline(looked.text), Outline(done.text)
    assert reported in before.text
    assert reported in after.text
    assert "button" in before.tags
    assert {"script", "b"}.isdisjoint(before.tags | after.tags)
    assert "form-action 'self'" in looked.headers["content-security-policy"]


@pytest.mark.parametrize("action", [action for action, _ in ACTIONS])
def test_what_was_asked_for_is_undone_by_one_press(warehouse, signer, action):
    """The page that says it is done has a button that undoes it, as has the mail; pressed again, it changes nothing more."""
    with served(warehouse) as address:
        done = ask_server(address, f"/mail/{signer.token(action)}", "POST")
        (undo,) = re.findall('<form class="filters" method="post" action="([^"/]+)"><button>Undo</button>', done.text)
        assert signer.action(undo) == replace(action, verb="undo", days=0)
        looked = ask_server(address, f"/mail/{undo}")
        assert wishes(warehouse, action)
        for _ in range(2):
            undone = ask_server(address, f"/mail/{undo}", "POST")
            assert {} == wishes(warehouse, action)
    said = "digests again." if action.verb == "stop" else "word of “Title of POSIX-101” in <b>lmp</b> again."
    assert said in Outline(looked.text).text
    assert said in Outline(undone.text).text
    assert "Undo" not in undone.text


def test_one_click(warehouse, signer):
    """RFC 8058: a mail program posts `List-Unsubscribe=One-Click`, with no cookie and no look at a page."""
    action = Action("stop", "user", "ada")
    body = b"List-Unsubscribe=One-Click"
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Content-Length": str(len(body))}
    with served(warehouse) as address:
        host, _, port = address.removeprefix("http://").rstrip("/").rpartition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=60)
        connection.request("POST", f"/mail/{signer.token(action)}", body, headers)
        assert 200 == connection.getresponse().status
        connection.close()
    assert {("stop", ""): dt.date.max} == wishes(warehouse, action)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_is_no_link_of_ours_is_refused(warehouse, signer, method):
    """Changed, of another site or of an action that there is not: one sentence, and nothing is noted."""
    token = signer.token(Action("stop", "user", "ada"))
    other = Signer(b"the key of quite another site").token(Action("stop", "user", "ada"))
    with served(warehouse) as address:
        for stranger in (token[:-4], token + "A", other, signer.token(Action("delete", "user", "ada")), "x", "%00", "x" * 5000):
            reply = ask_server(address, f"/mail/{stranger}", method)
            assert 400 == reply.status
            assert "This link is not valid" in reply.text
        for path in ("/mail/", "/mail", "/mail/a/b"):
            assert 404 == ask_server(address, path, method).status
        assert 405 == ask_server(address, f"/mail/{token}", "DELETE").status
    assert {} == wishes(warehouse, Action("stop", "user", "ada"))


def test_site_without_digests(tmp_path):
    """No link is known, and looking leaves nothing behind."""
    with served(tmp_path) as address:
        assert 400 == ask_server(address, "/mail/x").status
        assert [] == list(tmp_path.iterdir())
        token = signer_with_key(tmp_path / "digest.key").token(ACTIONS[1][0])
        assert "this finding" in ask_server(address, f"/mail/{token}").text
        assert ["digest.key"] == [path.name for path in tmp_path.iterdir()]
