"""Digests by way of a real mail server into maildirs."""

import postfix
import pytest
from post_office import NIGHT, PNG, entry, mail_to, office, parsed

from iomine.post.deliver import deliver
from iomine.post.ledger import Ledger
from iomine.post.transports import Pace, Smtp

pytestmark = [pytest.mark.mail, pytest.mark.skipif(bool(postfix.why_not()), reason=postfix.why_not())]

USERS = [f"u{number:02}" for number in range(50)]


def test_digests_arrive_in_maildirs(tmp_path):
    """Over TLS each known user gets their digest, whole, and once; users unknown to the server are listed as refused.

    What the ledger says was sent is what lies in the maildirs, and a second run adds nothing.
    """
    mails = [mail_to(user, text=f"Größe: 3 µs\n.\n..\nFrom {user}\n") for user in [*USERS, "stranger"]]
    large = mail_to("u00", entry("u00", "X"), html=f"<p>{'x' * 60_000}</p>")
    with postfix.postfix(USERS) as server, Ledger(tmp_path / "digest.sqlite") as ledger:
        first = deliver([*mails, large], office(ledger, Smtp(server.smtp, tmp_path, Pace(0))))
        second = deliver(mails[:-1], office(ledger, Smtp(server.smtp, tmp_path, Pace(0))))
        assert server.wait_until_idle()
        boxes = {user: [parsed(mail) for mail in server.mails(user)] for user in USERS}

    assert sorted([*USERS, "u00"]) == sorted(who.removeprefix("user ") for who in first.sent)
    ((who, reply),) = first.refused
    assert ("user stranger", "550") == (who, reply[:3])
    assert ([], len(USERS)) == (second.sent, len(second.quiet))
    assert [2] + [1] * (len(USERS) - 1) == [len(mails) for mails in boxes.values()]
    for user in USERS[1:]:
        (mail,) = boxes[user]
        assert f"Your runs up to {NIGHT}" == mail["Subject"]
        assert f"{user}@site.test" == mail["Delivered-To"]
        assert "<iomine@site.test>" == mail["Return-Path"]
        assert "with ESMTPS id" in mail["Received"]
        assert "List-Unsubscribe=One-Click" == mail["List-Unsubscribe-Post"]
        text, related = mail.iter_parts()
        html, picture = related.iter_parts()
        assert f"Größe: 3 µs\n.\n..\nFrom {user}\n" == text.get_content().replace("\r\n", "\n")
        assert "Later" in html.get_content()
        assert PNG == picture.get_content()
    one, other = sorted(boxes["u00"], key=lambda mail: "References" in mail)
    assert one["Message-ID"] == other["References"]
