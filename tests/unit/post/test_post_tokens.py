"""Signed links, and what they do by mail."""

import datetime as dt
import stat
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st
from post_office import NOW, SIGNER, entry, mail_to, office

from iomine.errors import OutputError, UsageError
from iomine.post.deliver import deliver
from iomine.post.ledger import Ledger
from iomine.post.replies import take
from iomine.post.tokens import Action, Signer, passing_signer, signer_of, signer_with_key

TODAY = NOW.date()
KEY = entry("ada").subject.key
ACTION = Action("snooze", "user", "ada", KEY, 30)
UNKNOWN = "This link is not valid"


@given(
    st.builds(Action, st.sampled_from(["acknowledge", "snooze", "stop", "undo"]), st.sampled_from(["user", "project"]), st.text())
)
def test_a_token_says_what_was_signed(action):
    """Whatever the reader is called; and a token can stand in an address, a subject and a header."""
    token = SIGNER.token(action)
    assert token.replace("-", "").replace("_", "").replace(".", "").isalnum()
    assert token.isascii()
    if len(token) <= 2000:
        assert action == SIGNER.action(token)


@given(st.data())
def test_changed_token_is_none(data):
    """One sign more, less or other, anywhere, and it is refused."""
    token = SIGNER.token(ACTION)
    at = data.draw(st.integers(0, len(token) - 1))
    sign = data.draw(st.sampled_from("ABCabc019-_.=%\n é"))
    for changed in {token[:at] + token[at + 1 :], token[:at] + sign + token[at + 1 :], token[:at] + sign + token[at:]} - {token}:
        with pytest.raises(UsageError, match=UNKNOWN):
            SIGNER.action(changed)


def test_tokens_of_others_are_none():
    """Another site's key, another reader's signature, an action that there is not, and things that are no tokens."""
    token, other = SIGNER.token(ACTION), SIGNER.token(Action("snooze", "user", "bob", KEY, 30))
    strangers = [
        Signer(b"another key that somebody else has").token(ACTION),
        passing_signer().token(ACTION),
        token.rpartition(".")[0] + "." + other.rpartition(".")[2],
        SIGNER.token(Action("delete", "user", "ada")),
        SIGNER.token(Action("stop", "root", "ada")),
        SIGNER._serializer.dumps(["stop", "user"]),
        SIGNER._serializer.dumps({"verb": "stop"}),
        SIGNER._serializer.dumps("stop"),
        "",
        ".",
        "..",
        "x" * 100_000,
        "\0",
    ]
    for stranger in strangers:
        with pytest.raises(UsageError, match=UNKNOWN):
            SIGNER.action(stranger)


def test_key_is_made_once_and_for_its_owner(tmp_path):
    """The first digest makes it; links hold for as long as it stays, and one that is open to others is not used."""
    file = tmp_path / "digest.key"
    with pytest.raises(UsageError, match=UNKNOWN):
        signer_of(file)
    token = signer_with_key(file).token(ACTION)
    assert (0o600, 32) == (stat.S_IMODE(file.stat().st_mode), file.stat().st_size)
    assert [file] == list(tmp_path.iterdir())
    assert ACTION == signer_with_key(file).action(token) == signer_of(file).action(token)
    file.chmod(0o640)
    with pytest.raises(UsageError, match="can be read by others than its owner"):
        signer_of(file)
    file.chmod(0o600)
    file.write_bytes(b"short")
    with pytest.raises(UsageError, match="is too short"):
        signer_of(file)
    with pytest.raises(OutputError, match="cannot be written"):
        signer_with_key(tmp_path / "no" / "digest.key")


def mail(subject: str, **headers: str) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "whoever@site.test", "iomine-do@site.test", subject
    for name, value in headers.items():
        message[name.replace("_", "-")] = value
    message.set_content("Please.\n")
    return message.as_bytes()


@pytest.fixture
def ledger():
    """One in which a mail to ada lists a finding."""
    opened = Ledger(None)
    deliver([mail_to("ada")], office(opened))
    return opened


@pytest.mark.parametrize(
    ("action", "reported", "until"),
    [
        (
            ACTION,
            "user ada: from now on, you get no word of “Title of POSIX-101” in lmp for 30 days.",
            TODAY + dt.timedelta(days=30),
        ),
        (
            Action("acknowledge", "user", "ada", KEY),
            "user ada: from now on, you get no word of “Title of POSIX-101” in lmp.",
            dt.date.max,
        ),
        (Action("stop", "user", "ada"), "user ada: from now on, you get no more digests.", dt.date.max),
        (
            Action("stop", "project", "chem"),
            "project chem: from now on, the lead of chem gets no more digests.",
            dt.date.max,
        ),
        (Action("acknowledge", "user", "bob", KEY), "user bob: from now on, you get no word of “this finding”.", dt.date.max),
    ],
)
@pytest.mark.parametrize("form", ["iomine {}", "Re: iomine {}", "{}", "Größe {} ok"])
def test_a_mail_does_what_its_link_says(ledger, action, reported, until, form):
    """The token counts, whatever stands around it and however the subject is folded or encoded; what is done is said."""
    assert reported == take(mail(form.format(SIGNER.token(action))), SIGNER, ledger, TODAY)
    assert {(action.verb, action.key): until} == ledger.wishes(action.kind, action.recipient)


def test_asked_twice_the_longer_holds(ledger):
    """A second click on an older link does not shorten what was asked for."""
    for days, today in ((30, TODAY), (7, TODAY), (30, TODAY - dt.timedelta(days=9))):
        take(mail(SIGNER.token(Action("snooze", "user", "ada", KEY, days))), SIGNER, ledger, today)
    assert {("snooze", KEY): TODAY + dt.timedelta(days=30)} == ledger.wishes("user", "ada")


@pytest.mark.parametrize(
    "headers",
    [
        {"Auto_Submitted": "auto-replied"},
        {"Auto_Submitted": "auto-generated"},
        {"Auto_Submitted": "auto-notified; owner-email=a@b"},
        {"Auto_Submitted": "AUTO-REPLIED (vacation)"},
        {"Precedence": "bulk"},
        {"Precedence": "List"},
        {"Return_Path": "<>"},
    ],
)
def test_mails_of_programs_do_nothing(ledger, headers):
    """Vacation replies, bounces and lists carry our own subjects back; nothing comes of it, and no error that would be mailed."""
    assert "This mail was sent by a program: nothing is done." == take(
        mail(SIGNER.token(ACTION), **headers), SIGNER, ledger, TODAY
    )
    assert {} == ledger.wishes("user", "ada")


def test_mail_of_a_person_that_says_so_is_taken(ledger):
    """RFC 3834: `no` is what it says, in any case and with a comment after it."""
    take(mail(SIGNER.token(ACTION), Auto_Submitted="No; x=y"), SIGNER, ledger, TODAY)
    assert 1 == len(ledger.wishes("user", "ada"))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\0\xff\xfe",
        mail("hello"),
        mail(f"iomine {'x' * 200}"),
        mail(f"iomine {SIGNER.token(ACTION)[:-9]}"),
        b"Subject: =?utf-8?b?!!!?= =?nope?q?=ff?= =?utf-8?q?=ff=00?=\n\n",
        b"Subject: " + b"a" * 5_000_000,
        b"Subject " + b"iomine\n" * 1000,
    ],
)
def test_mails_that_ask_for_nothing_are_refused(ledger, raw):
    """In one sentence, which the mail server sends back to whoever wrote it."""
    with pytest.raises(UsageError, match=r"has no token of a digest|is not valid") as error:
        take(raw, SIGNER, ledger, TODAY)
    assert "\n" not in str(error.value)
    assert {} == ledger.wishes("user", "ada")


@given(st.binary(max_size=2000))
def test_no_mail_breaks_it(raw):
    """Whatever comes in does nothing and says so."""
    with Ledger(None) as ledger, pytest.raises(UsageError):
        take(b"Subject: " + raw, SIGNER, ledger, TODAY)
