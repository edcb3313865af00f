"""What becomes of a mail on its way out, with a real mail server that has faults."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from mail_server import Authenticator, Handler, certificate, free_port, mail_server, smtp

from iomine.errors import OutputError, UsageError
from iomine.post.settings import SmtpSettings
from iomine.post.transports import Message, Outbox, Outcome, Pace, Smtp

CONTENT = b"Subject: x\r\nMessage-ID: <1@site.test>\r\n\r\n.\r\n..b\r\n.c\r\n"
MAIL = Message("<1@site.test>", "iomine@site.test", "ada@site.test", CONTENT)


def mail_to(user: str) -> Message:
    return replace(MAIL, address=f"{user}@site.test")


@pytest.fixture
def handler() -> Handler:
    return Handler()


def test_mails_go_over_one_connection_as_they_are(handler):
    """Lines that begin with dots arrive as they were sent, and no mail needs a connection of its own."""
    with mail_server(handler) as settings:
        transport = smtp(settings)
        outcomes = [transport.send(mail_to(user)) for user in ("ada", "bob")]
        transport.close()

    assert [Outcome("sent", "250 taken")] * 2 == outcomes
    assert [MAIL.content] * 2 == [mail.content for mail in handler.mails]
    assert [["ada@site.test"], ["bob@site.test"]] == [mail.recipients for mail in handler.mails]
    assert {"iomine@site.test"} == {mail.sender for mail in handler.mails}
    assert handler.mails[0].session is handler.mails[1].session


@pytest.mark.parametrize(
    ("stage", "reply", "end", "reported"),
    [
        ("mail", "451 later", "later", "451 later"),
        ("rcpt", "451 greylisted", "later", "451 greylisted"),
        ("rcpt", "421 too many", "later", "421 too many"),
        ("rcpt", "550 no such user", "refused", "550 no such user"),
        ("data", "451 disk full", "later", "451 disk full"),
        ("data", "552 too large", "refused", "552 too large"),
        ("rcpt", "drop", "later", "Connection unexpectedly closed"),
        ("data", "drop", "doubtful", "Connection unexpectedly closed"),
        ("stored", "drop", "doubtful", "Connection unexpectedly closed"),
        ("rcpt", "550 \x1b[2J\u202e\ufffd" + "x" * 400, "refused", "550 "),
    ],
)
def test_each_fault_ends_one_mail_and_the_next_one_arrives(handler, stage, reply, end, reported):
    """4xx and a connection lost before the content are for later, 5xx for good; lost after the content, nobody knows."""
    handler.plan = lambda at, address: reply if at == stage and (stage == "mail" or address.startswith("bob")) else None
    with mail_server(handler, enable_SMTPUTF8=True) as settings:
        transport = smtp(settings)
        # On a connection of its own, so that it is not tried once more at once.
        outcome = transport.send(mail_to("bob"))
        handler.plan = lambda _stage, _address: None
        after = transport.send(mail_to("cyd"))
        transport.close()

    assert (end, True) == (outcome.end, outcome.is_reached)
    assert outcome.reply.startswith(reported)
    assert outcome.reply.isprintable()
    assert len(outcome.reply) <= 300
    assert "sent" == after.end
    assert ["bob@site.test"] * (stage == "stored") + ["cyd@site.test"] == handler.addresses()


def test_lost_connection_is_replaced_at_once_where_nothing_can_have_arrived(handler):
    """A server that hangs up between mails, as many do after some, costs no mail; one that may have it is not asked twice."""
    drops = iter(["drop"])
    handler.plan = lambda at, address: next(drops, None) if at == "rcpt" and address.startswith("bob") else None
    with mail_server(handler) as settings:
        transport = smtp(settings)
        assert ["sent", "sent"] == [transport.send(mail_to(user)).end for user in ("ada", "bob")]
        handler.plan = lambda at, _address: "drop" if at == "stored" else None
        assert "doubtful" == transport.send(mail_to("cyd")).end
        transport.close()
    assert ["ada@site.test", "bob@site.test", "cyd@site.test"] == handler.addresses()


def test_sender_that_is_not_taken_ends_the_run(handler):
    """What the server says of the sender it would say of every mail, so none counts as refused."""
    handler.plan = lambda at, _address: "550 who are you" if at == "mail" else None
    with mail_server(handler) as settings:
        transport = smtp(settings)
        with pytest.raises(OutputError, match=r"refuses mail from iomine@site.test \(550 who are you\): see from_address"):
            transport.send(MAIL)
        transport.close()
    assert [] == handler.mails


def test_server_that_is_not_there(tmp_path):
    """Nobody listens: the mail is for later, and the server counts as not reached."""
    outcome = smtp(SmtpSettings(host="127.0.0.1", port=free_port())).send(MAIL)
    assert ("later", False) == (outcome.end, outcome.is_reached)
    assert "is not reached: Connection refused" in outcome.reply


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """A certificate."""
    return certificate(tmp_path_factory.mktemp("certificate"))


def secret(folder: Path, text: str = "a secret") -> Path:
    file = folder / "password"
    file.write_text(f"{text}\n")
    file.chmod(0o600)
    return file


def test_starttls_and_a_password(handler, shown, tmp_path):
    """The connection is secret before the password goes over it."""
    file, context = shown
    options = {"tls_context": context, "require_starttls": True, "authenticator": Authenticator(), "auth_required": True}
    with mail_server(handler, **options) as found:
        settings = found.changed(
            host="localhost", tls="starttls", ca_file=str(file), user="iomine", password_file=str(secret(tmp_path))
        )
        transport = smtp(settings)
        assert "sent" == transport.send(MAIL).end
        transport.close()
        # A wrong one is a fault of the settings and of no mail.
        wrong = Smtp(settings.changed(password_file=str(secret(tmp_path, "wrong"))), tmp_path, Pace(0))
        with pytest.raises(OutputError, match=r"refuses the login of iomine \(535 "):
            wrong.send(MAIL)
    assert handler.mails[0].session.ssl is not None
    assert 1 == len(handler.mails)


def test_implicit_tls_and_a_password(handler, shown, tmp_path):
    """The connection is secret from its first byte."""
    file, context = shown
    options = {"ssl_context": context, "authenticator": Authenticator(), "auth_required": True, "auth_require_tls": False}
    with mail_server(handler, **options) as found:
        settings = found.changed(
            host="localhost", tls="implicit", ca_file=str(file), user="iomine", password_file=str(secret(tmp_path))
        )
        transport = smtp(settings)
        assert "sent" == transport.send(MAIL).end
        transport.close()
    assert 1 == len(handler.mails)


@pytest.mark.parametrize("tls", ["starttls", "implicit"])
def test_certificate_that_nobody_vouches_for_is_not_taken(handler, shown, tls):
    """A server that cannot show who it is gets no mail, and no password."""
    _, context = shown
    with mail_server(handler, **{"tls_context" if tls == "starttls" else "ssl_context": context}) as found:
        transport = smtp(found.changed(host="localhost", tls=tls))
        with pytest.raises(OutputError, match=r"certificate|CERTIFICATE"):
            transport.send(MAIL)
    assert [] == handler.mails


def test_server_without_tls_gets_no_mail_that_needs_it(handler):
    """What is set is kept to, whatever the server can."""
    with mail_server(handler) as found:
        transport = smtp(found.changed(tls="starttls"))
        with pytest.raises(OutputError, match=r"does not support what smtp.tls and smtp.user require"):
            transport.send(MAIL)
    assert [] == handler.mails


def test_settings_that_cannot_be_used(tmp_path):
    """Each in a sentence, before anything is sent."""
    with pytest.raises(UsageError, match="No mail server is set"):
        smtp(SmtpSettings())
    (tmp_path / "empty.pem").write_text("")
    with pytest.raises(UsageError, match=r"certificates in .*empty.pem cannot be read"):
        smtp(SmtpSettings(host="localhost", ca_file="empty.pem"), tmp_path)
    file = secret(tmp_path)
    file.chmod(0o644)
    with pytest.raises(UsageError, match=r"password .* can be read by others"):
        smtp(SmtpSettings(host="localhost", user="a", password_file=file.name), tmp_path)


def test_outbox_has_a_file_for_each_mail(tmp_path):
    """Whole or not at all, under a name that stays within the folder; the same mail has the same file."""
    outbox = Outbox(tmp_path / "a" / "b")
    hostile = replace(MAIL, message_id="<../../etc/passwd\0@x>")
    assert ["sent"] * 3 == [outbox.send(mail).end for mail in (MAIL, hostile, MAIL)]
    assert {"1_site.test.eml", ".._.._etc_passwd__x.eml"} == {path.name for path in (tmp_path / "a" / "b").iterdir()}
    assert MAIL.content == (tmp_path / "a" / "b" / "1_site.test.eml").read_bytes()
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        Outbox(tmp_path / "file" / "x")


def test_links_in_an_outbox_that_others_can_write_to_lead_nowhere(tmp_path):
    """Names of mails can be foreseen, so a mail is written under another name first, and a link that has its name is replaced."""
    theirs, outbox = tmp_path / "theirs", Outbox(tmp_path / "outbox")
    theirs.write_text("kept")
    for name in ("1_site.test.part", "1_site.test.eml"):
        (tmp_path / "outbox" / name).symlink_to(theirs)
    outbox.send(MAIL)
    assert "kept" == theirs.read_text()
    assert MAIL.content == (tmp_path / "outbox" / "1_site.test.eml").read_bytes()


@pytest.mark.skipif(os.geteuid() != 0, reason="Only root gives files to any group.")
def test_mails_in_an_outbox_are_for_owner_and_group(tmp_path):
    """Nobody else reads them, whatever the folder is like; a folder that was there stays as it is."""
    (tmp_path / "there").mkdir(mode=0o755)
    group = tmp_path.stat().st_gid + 1000
    for name in ("new", "there"):
        Outbox(tmp_path / name, group).send(MAIL)
    assert {(0o640, group)} == {(path.stat().st_mode & 0o7777, path.stat().st_gid) for path in tmp_path.glob("*/*.eml")}
    new, there = ((tmp_path / name).stat() for name in ("new", "there"))
    assert (0o2750, group) == (new.st_mode & 0o7777, new.st_gid)
    assert (0o755, tmp_path.stat().st_gid) == (there.st_mode & 0o7777, there.st_gid)


def test_pace_keeps_mails_apart():
    """A clock that is handed in: 120 in a minute are half a second apart, time that passed otherwise counts."""
    now, slept = [100.0], []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    pace = Pace(120, lambda: now[0], sleep)
    for passes in (0.0, 0.0, 0.2, 7.0, 0.0):
        now[0] += passes
        pace.wait()
    assert pytest.approx([0.5, 0.3, 0.5]) == slept
    Pace(0, lambda: now[0], sleep).wait()
    assert 3 == len(slept)
