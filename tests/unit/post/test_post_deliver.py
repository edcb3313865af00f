"""A run of the post: what becomes of mails, whatever the mail server does and whenever a run ends."""

import datetime as dt
from dataclasses import replace

import pytest
from mail_server import Handler, free_port, mail_server, smtp
from post_office import NIGHT, NOW, Books, entry, mail_to, office, parsed

from iomine.errors import OutputError, WarehouseError
from iomine.post.deliver import Summary, deliver
from iomine.post.directory import CsvDirectory
from iomine.post.ledger import Ledger, only_digest
from iomine.post.settings import Exclusions, SmtpSettings
from iomine.post.tokens import Action
from iomine.post.transports import Message, Outbox, Outcome

USERS = ["ada", "bob", "cyd", "dan", "eve", "fay", "gus"]


def later(**delta: float) -> dt.datetime:
    return NOW + dt.timedelta(**delta)


def test_every_fault_ends_one_mail_and_the_run_goes_on(tmp_path):
    """Temporary faults and lost connections are tried again by the next run, permanent ones are listed."""
    handler = Handler()
    faults = {
        "bob": ("rcpt", "451 greylisted"),
        "cyd": ("data", "451 disk full"),
        "dan": ("rcpt", "550 no such user"),
        "eve": ("data", "552 too large"),
        "fay": ("rcpt", "drop"),
        "gus": ("stored", "drop"),
    }
    handler.plan = lambda at, address: (
        reply if at == (fault := faults.get(address[:3], ("", "")))[0] and (reply := fault[1]) else None
    )
    ledger = Ledger(tmp_path / "digest.sqlite")
    mails = [mail_to(user, entry(user, hours=100 - n)) for n, user in enumerate([*USERS, "zoe"])]
    with mail_server(handler) as settings:
        first = deliver(mails, office(ledger, smtp(settings)))
        assert ["user ada", "user zoe"] == first.sent
        assert [("user bob", "451 greylisted"), ("user cyd", "451 disk full")] == first.deferred[:2]
        assert [("user dan", "550 no such user"), ("user eve", "552 too large")] == first.refused
        assert ["user fay"] == [who for who, _ in first.deferred[2:]]
        assert ["user gus"] == [who for who, _ in first.in_doubt]
        assert not first.is_whole
        assert ["ada@site.test", "gus@site.test", "zoe@site.test"] == handler.addresses()

        faults.clear()
        # The same mails once more, as a flow that is tried again brings them.
        second = deliver(mails, office(ledger, smtp(settings), now=later(hours=1)))
        third = deliver(mails, office(ledger, smtp(settings), now=later(hours=2)))
    # Those that were refused do not count as mailed, so they are new mails again.
    assert ["user bob", "user cyd", "user dan", "user eve", "user fay", "user gus"] == sorted(second.sent)
    assert sorted((f"user {user}", "mailed before") for user in [*USERS, "zoe"]) == sorted(third.quiet)
    assert [] == third.sent
    assert third.is_whole
    assert [*USERS, "gus", "zoe"] == sorted(address[:3] for address in handler.addresses())
    twice = [mail for mail in handler.mails if mail.recipients == ["gus@site.test"]]
    assert twice[0].content == twice[1].content


def test_mails_of_a_kind_thread_and_are_valid(tmp_path):
    """Three digests to one reader, by way of a mail server: the later two answer to the first."""
    handler, ledger = Handler(), Ledger(tmp_path / "digest.sqlite")
    with mail_server(handler) as settings:
        for week in range(3):
            now = later(weeks=2 * week)
            summary = deliver(
                [
                    mail_to("ada", night=NIGHT + dt.timedelta(weeks=2 * week)),
                    mail_to("operator", kind="operator", night=now.date()),
                ],
                office(ledger, smtp(settings), now=now, operators=("ops@site.test",)),
            )
            assert ["operator operator", "user ada"] == summary.sent
    mails = [parsed(mail.content) for mail in handler.mails]
    for who in ("ada@site.test", "ops@site.test"):
        first, *others = [mail for mail in mails if mail["To"].addresses[0].addr_spec == who]
        assert 2 == len(others)
        assert {first["Message-ID"]} == {mail["References"] for mail in others} == {mail["In-Reply-To"] for mail in others}
        assert "References" not in first


@pytest.mark.parametrize("state", ["pending", "sending", "deferred"])
@pytest.mark.parametrize("in_doubt", ["resend", "hold"])
def test_what_a_dead_run_left_is_finished(state, in_doubt):
    """What had not left goes out with the same bytes; what may have left goes again, or is held, as the site has it."""
    ledger, dead = Ledger(None), Books(plan=lambda _mail: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        deliver([mail_to("ada")], office(ledger, dead))
    (left,) = ledger.unfinished()
    assert ("sending", dead.mails[0].content) == (left.state, left.mail)
    ledger.mark(left.message_id, state, NOW)

    books = Books()
    summary = deliver([], office(ledger, books, now=later(days=1), in_doubt=in_doubt))
    if state == "sending" and in_doubt == "hold":
        assert (["user ada"], [], []) == (summary.held, summary.sent, books.mails)
        assert not summary.is_whole
    else:
        assert (["user ada"], [], dead.mails) == (summary.sent, summary.held, books.mails)
        assert summary.is_whole
        assert [] == ledger.unfinished()


def test_doubt_lasts_until_a_server_answers():
    """A mail in doubt that is tried again in vain is in doubt as before."""
    ledger = Ledger(None)
    for end in ("doubtful", "later"):
        deliver([mail_to("ada")], office(ledger, Books(plan=lambda _mail, end=end: Outcome(end, "?"))))
        assert ["sending"] == [posted.state for posted in ledger.unfinished()]
    assert ["user ada"] == deliver([], office(ledger, in_doubt="hold")).held


def test_mail_that_nobody_takes_is_given_up():
    """After days of trying it is listed as refused, and its findings do not count as mailed."""
    ledger, busy = Ledger(None), Books(plan=lambda _mail: Outcome("later", "451 busy"))
    for day in range(6):
        assert ["user ada"] == [who for who, _ in deliver([], office(ledger, busy, now=later(days=day))).deferred] or day == 0
        deliver([mail_to("ada")], office(ledger, busy), leftovers=False) if day == 0 else None
    assert [("user ada", "given up after 5 days: 451 busy")] == deliver([], office(ledger, busy, now=later(days=5.1))).refused
    assert [] == ledger.unfinished()
    assert {} == ledger.mailed("user", "ada")
    assert ["user ada"] == deliver([mail_to("ada")], office(ledger, now=later(days=6))).sent


def test_a_clock_that_was_set_ahead_costs_no_mail():
    """A run on a wrong date tries the mails that wait, and gives up none; with the clock set right they are sent."""
    ledger, busy = Ledger(None), Books(plan=lambda _mail: Outcome("later", "451 busy"))
    deliver([mail_to("ada")], office(ledger, busy))
    assert [("user ada", "451 busy")] == deliver([], office(ledger, busy, now=later(days=400))).deferred
    assert ["user ada"] == deliver([], office(ledger, now=later(days=1))).sent


def test_server_that_is_gone_ends_the_run_soon():
    """After three misses in a row nothing more is tried; all mails are on the books and leave with the next run."""
    ledger, gone = Ledger(None), SmtpSettings(host="127.0.0.1", port=free_port())
    summary = deliver(map(mail_to, USERS), office(ledger, smtp(gone)))
    assert "is not reached" in summary.fault
    assert USERS == [who.removeprefix("user ") for who, _ in summary.deferred]
    assert ["not tried"] * 4 == [reply for _, reply in summary.deferred[3:]]
    assert sorted(USERS) == sorted(who.removeprefix("user ") for who in deliver([], office(ledger)).sent)


def test_fault_of_the_settings_costs_no_mail():
    """A server that lets nobody in ends the run at once, and the mails wait for one that does."""

    def refuse(_mail: Message) -> Outcome:
        raise OutputError("The server does not let us in.")

    ledger, closed = Ledger(None), Books(plan=refuse)
    summary = deliver(map(mail_to, USERS), office(ledger, closed))
    assert ("The server does not let us in.", 1) == (summary.fault, len(closed.mails))
    assert USERS == sorted(who.removeprefix("user ") for who in deliver([], office(ledger)).sent)


def test_two_digests_at_once(tmp_path):
    """The second ends with one sentence, and may begin when the first has ended."""
    reported = r"Another digest is being sent from .*: wait until it has ended\."
    with only_digest(tmp_path), pytest.raises(WarehouseError, match=reported), only_digest(tmp_path):
        pytest.fail("two have the lock")
    with only_digest(tmp_path):
        pass


def test_stale_mail_is_held_back():
    """A mail that was written before another one with the same finding is not sent, though it lists more."""
    ledger = Ledger(None)
    deliver([mail_to("ada")], office(ledger))
    stale = mail_to("ada", entry("ada"), entry("ada", "POSIX-102"), night=NIGHT + dt.timedelta(days=1))
    books = Books()
    assert [("user ada", "cooldown")] == deliver([stale], office(ledger, books, now=later(days=1))).quiet
    praised = mail_to("ada", entry("ada", "POSIX-103"), better=(entry("ada", "POSIX-104").subject,))
    assert ["user ada"] == deliver([praised], office(ledger, books)).sent
    again = mail_to("ada", entry("ada", "POSIX-105"), better=praised.better)
    assert [("user ada", "mailed before")] == deliver([again], office(ledger, books)).quiet
    assert 1 == len(books.mails)


def test_costliest_go_first_and_a_run_has_an_end():
    """Operators get theirs whatever the number; of the others the highest sums go, the rest are as good as never written."""
    ledger, books = Ledger(None), Books()
    mails = [mail_to(user, entry(user, hours=10 + n), entry(user, "X", hours=10)) for n, user in enumerate(USERS)]
    operator = mail_to("operator", kind="operator")
    summary = deliver([*mails, operator], office(ledger, books, most_mails=3, operators=("ops@site.test",)))
    assert ["operator operator", "user gus", "user fay", "user eve"] == summary.sent
    assert ["user dan", "user cyd", "user bob", "user ada"] == summary.waiting
    assert summary.is_whole
    assert {} == ledger.mailed("user", "dan")
    assert ["user dan", "user cyd", "user bob"] == deliver(mails, office(ledger, books, most_mails=3)).sent


def test_readers_who_want_none_get_none():
    """Opt-outs and exclusions hold for mails that are written already, too, and an excluded stranger is nobody's trouble."""
    ledger, busy = Ledger(None), Books(plan=lambda _mail: Outcome("later", "451 busy"))
    deliver([mail_to("ada")], office(ledger, busy))
    ledger.wish(Action("stop", "user", "ada"), NOW.date())
    books, excluded = Books(), Exclusions(users=("bob", "no one"), accounts=("chem",))
    mails = [mail_to("ada", entry("ada", "X")), mail_to("bob"), mail_to("no one"), mail_to("chem", kind="project")]
    summary = deliver(mails, office(ledger, books, exclude=excluded, investigators={"chem": "cyd"}))
    wanted = {("user ada", "opted out"), ("user bob", "excluded"), ("user no one", "excluded"), ("project chem", "excluded")}
    assert (wanted, [], []) == (set(summary.quiet), summary.unknown, books.mails)
    assert [] == ledger.unfinished()


def test_strangers_are_listed(tmp_path):
    """Nobody's address is guessed: users whom the directory does not know, and accounts without an investigator, are listed."""
    (tmp_path / "people.csv").write_text("ada,lovelace@site.test,Ada Lovelace\nada2,x y\n")
    hostile = "root\nBcc: all@site.test"
    mails = [mail_to("ada"), mail_to("bob"), mail_to(hostile), mail_to("x" * 5000)]
    mails += [mail_to(account, entry("ada", "X"), kind="project") for account in ("chem", "phys", "bio")]
    books = Books()
    people = {"chem": "ada", "phys": "pi@elsewhere.test", "bio": "gone"}
    summary = deliver(mails, office(transport=books, directory=CsvDirectory(tmp_path / "people.csv"), investigators=people))
    assert {"lovelace@site.test", "pi@elsewhere.test"} == {mail.address for mail in books.mails}
    unknown = ["project bio", "user bob", r"user root\nBcc: all@site.test", f"user {'x' * 5000}"]
    assert unknown == sorted(summary.unknown)
    assert "Line 2 of" in summary.directory_faults[0]
    assert not summary.is_whole


def test_mail_that_is_too_large_is_reported():
    """It cannot be a mail: it is listed, does not count as mailed, and the others are sent."""
    ledger = Ledger(None)
    summary = deliver([mail_to("ada", html="x" * 200_000), mail_to("bob")], office(ledger))
    assert (["user bob"], ["user ada"]) == (summary.sent, [who for who, _ in summary.refused])
    assert {} == ledger.mailed("user", "ada")


def test_dry_run_leaves_the_ledger_alone(tmp_path):
    """On a copy all goes as it would, and nothing is remembered."""
    ledger = Ledger(tmp_path / "digest.sqlite")
    deliver([mail_to("ada")], office(ledger))
    before = (tmp_path / "digest.sqlite").read_bytes()
    summary = deliver([mail_to("ada"), mail_to("bob")], office(ledger.copy(), Outbox(tmp_path / "out")))
    assert (["user bob"], [("user ada", "mailed before")]) == (summary.sent, summary.quiet)
    assert before == (tmp_path / "digest.sqlite").read_bytes()
    assert 1 == len(list((tmp_path / "out").glob("*.eml")))


def test_nothing_to_say():
    """No mail, no mail, and nothing is wrong."""
    books = Books()
    assert Summary() == deliver([], office(transport=books))
    assert [] == books.mails
    assert Summary().is_whole


def test_ledger_is_for_its_owner_and_of_one_version(tmp_path):
    """Nobody else may read it; what is no ledger is reported in a sentence, and left as it is."""
    with Ledger(tmp_path / "digest.sqlite") as ledger:
        ledger.wish(Action("stop", "user", "ada"), NOW.date())
    assert 0o600 == (tmp_path / "digest.sqlite").stat().st_mode & 0o777
    with Ledger(tmp_path / "digest.sqlite") as ledger:
        assert {("stop", ""): dt.date.max} == ledger.wishes("user", "ada")
        ledger._con.execute("PRAGMA user_version = 7")
    with pytest.raises(WarehouseError, match="written by another version"):
        Ledger(tmp_path / "digest.sqlite")
    (tmp_path / "other").write_text("not a database at all\n" * 100)
    with pytest.raises(WarehouseError, match=r"The ledger .*other cannot be read or written"):
        Ledger(tmp_path / "other")
    with pytest.raises(WarehouseError, match="cannot be read or written"):
        Ledger(tmp_path / "no" / "folder")
    assert "not a database" in (tmp_path / "other").read_text()


def test_mail_to_many_operators_is_many_mails():
    """Each has its own end, and its own id."""
    ledger = Ledger(None)
    some = Books(plan=lambda mail: Outcome("later" if mail.address.startswith("b") else "sent", "451"))
    what = mail_to("operator", kind="operator")
    addresses = ("a@site.test", "b@site.test")
    summary = deliver([what], office(ledger, some, operators=addresses))
    assert (["operator operator"], [("operator operator", "451")]) == (summary.sent, summary.deferred)
    books = Books()
    deliver([replace(what, text="other\n")], office(ledger, books, operators=addresses))
    assert ["b@site.test"] == [mail.address for mail in books.mails]
