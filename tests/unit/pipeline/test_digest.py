"""Runs of the digest over a warehouse of hostile names: who gets what through mails and post together."""

import email
import re
import socket
import sqlite3
from collections.abc import Iterator
from datetime import date, timedelta
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any

import pytest
from access_facility import guarded
from facility import FIRST, NIGHTS, Facility
from outline import HOSTILE
from web_server import ask_server

from iomine.digest import mails as mails_room
from iomine.errors import UsageError
from iomine.pipeline import digest as digest_room
from iomine.pipeline.digest import Order, digest, site_settings, take_mail
from iomine.report.facts import Facts, Place
from iomine.views.answers import Ask
from iomine.views.query import ask

SETTINGS = """
least_core_hours = 0.0
operators = ["ops@site.test"]
[directory]
template = "{user}@site.test"
[investigators]
p1 = "ada"
"""
# Of the metrics, one that is larger on a night of these rows than on the night before.
RISING, RISEN = "finding_log_ratio", date(2024, 4, 9)


@pytest.fixture(scope="module")
def facility(tmp_path_factory: pytest.TempPathFactory) -> Facility:
    return Facility(tmp_path_factory.mktemp("facility"))


@pytest.fixture
def site(facility: Facility) -> Path:
    """The warehouse, as before the first digest."""
    for file in facility.root.glob("digest*"):
        file.unlink()
    (facility.root / "digest.toml").write_text(SETTINGS)
    return facility.root


def mails(outbox: Path) -> dict[str, EmailMessage]:
    """Mails by their address and list."""
    found = [email.message_from_bytes(file.read_bytes(), policy=default) for file in sorted(outbox.glob("*.eml"))]
    assert [] == [defect for mail in found for part in mail.walk() for defect in part.defects]
    return {f"{mail['List-Id'].split('.')[0][1:]} {mail['To']}": mail for mail in found}  # type: ignore[misc]


def text_of(mail: EmailMessage) -> str:
    part = mail.get_body(("plain",))
    assert part is not None
    return str(part.get_content())


@pytest.mark.proof
def test_everybody_due_is_written_to(site: Path, facility: Facility, tmp_path: Path):
    """Users with findings, who answers for a project and operators get a mail each; whose name cannot be an address is listed."""
    done = digest(Order(site, since=FIRST, outbox=tmp_path))
    expected = {log["user"] for log in facility.findings if log["user"]}
    assert {f"user {name}" for name in ("ada", "bob")} | {"project p1", "operator operator"} == set(done.post.sent)
    assert len(expected) - 2 == len([who for who in done.post.unknown if who.startswith("user ")])
    assert {"user ada@site.test", "user bob@site.test", "project ada@site.test", "operator ops@site.test"} == mails(
        tmp_path
    ).keys()
    assert not done.post.is_whole


def test_a_mail_that_cannot_be_written_costs_itself(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It is listed with what went wrong, and all others are sent."""
    whole = mails_room.opening

    def refuse(known: Any, *others: Any) -> Any:
        if known.recipient == "ada":
            raise ZeroDivisionError("division by zero")
        return whole(known, *others)

    monkeypatch.setattr(mails_room, "opening", refuse)
    done = digest(Order(site, since=FIRST, outbox=tmp_path))
    assert ("user ada", "no mail can be made (ZeroDivisionError: division by zero)") in done.post.refused
    assert {"user bob", "operator operator"} <= set(done.post.sent)


def test_hostile_names_harm_no_mail(site: Path, tmp_path: Path):
    """Mails have one of each header, no more than 100 KB, and no sign that cannot be seen."""
    digest(Order(site, since=FIRST, outbox=tmp_path))
    for file in tmp_path.glob("*.eml"):
        assert len(file.read_bytes()) < 100_000
    for mail in mails(tmp_path).values():
        assert len(mail.keys()) == len(set(mail.keys()))
        assert "Bcc" not in mail
        assert not re.search("[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", text_of(mail))
        html = mail.get_body(("html",))
        assert html is not None
        assert HOSTILE["tag"] not in html.get_content()
        assert "{{" not in html.get_content() + text_of(mail)


@pytest.mark.proof
def test_nothing_is_mailed_twice(site: Path, tmp_path: Path):
    """A second run sends nothing, also without a cooldown, as long as no night has come that is new."""
    for cooldown in (14, 0):
        first = digest(Order(site, since=FIRST, outbox=tmp_path / "one"))
        (site / "digest.toml").write_text(f"cooldown_days = {cooldown}\n{SETTINGS}")
        second = digest(Order(site, outbox=tmp_path / "two"))
        assert first.post.sent
        assert [] == second.post.sent
        assert {} == mails(tmp_path / "two")
        for file in site.glob("digest.sqlite"):
            file.unlink()


@pytest.mark.proof
def test_signed_links_open_reports_without_a_login(site: Path, tmp_path: Path, facility: Facility):
    """Where the site says so, a mail's link opens its one report; a dry run makes no key, and without a server there is none."""
    access = site / "access.toml"
    access.write_text("[links]\nin_mails = true")
    try:
        with pytest.raises(UsageError, match=r"set site in digest\.toml"):
            digest(Order(site, since=FIRST, outbox=tmp_path / "none"))
        (site / "digest.toml").write_text(f'site = "https://io.test/x"\n{SETTINGS}')
        digest(Order(site, since=FIRST, outbox=tmp_path / "dry", is_dry=True))
        assert not (site / "access.key").exists()
        digest(Order(site, since=FIRST, outbox=tmp_path / "sent"))
        found = {}
        for whom in ("user ada@site.test", "user bob@site.test"):
            links = re.findall(
                r"https://io\.test/x(/by/\S+/reports/([0-9a-f]{16})\.html)#", text_of(mails(tmp_path / "sent")[whom])
            )
            assert links
            found[whom] = links[0]
        users = {log["log_id"]: log["user"] for log in facility.logs}
        assert ["ada", "bob"] == [users[log_id] for _, log_id in found.values()]
        (_, bobs), (adas, _) = found["user bob@site.test"], found["user ada@site.test"]
        with guarded(site) as address:
            place = adas.replace(".html", ".json")
            assert 200 == ask_server(address, place).status
            assert 403 == ask_server(address, place[place.index("/reports") :]).status
            assert 403 == ask_server(address, f"{adas[: adas.index('/reports')]}/reports/{bobs}.json").status
    finally:
        for file in site.glob("access*"):
            file.unlink()


@pytest.mark.proof
def test_reports_come_as_files_where_the_site_wants_that(
    site: Path, tmp_path: Path, facility: Facility, monkeypatch: pytest.MonkeyPatch
):
    """A mail brings the report of its costliest run as one file that loads nothing, made of what its reader may see."""
    seen, gathered = [], digest_room.gather

    def gather(ask: Ask, places: list[Place]) -> Iterator[Facts]:
        seen.append({row["user"] for row in ask('SELECT DISTINCT "user" FROM logs').to_pylist()})
        return gathered(ask, places)

    monkeypatch.setattr(digest_room, "gather", gather)
    (site / "digest.toml").write_text(f'reports = "attachment"\n{SETTINGS}')
    digest(Order(site, since=FIRST, outbox=tmp_path))
    users = {log["log_id"]: log["user"] for log in facility.logs}
    for whom, user in (("user ada@site.test", "ada"), ("user bob@site.test", "bob")):
        mail = mails(tmp_path)[whom]
        (attached,) = mail.iter_attachments()
        log_id = str(attached.get_filename()).removeprefix("iomine-").removesuffix(".html")
        assert ("text/html", user) == (attached.get_content_type(), users[log_id])
        page = attached.get_content()
        assert f"(attached): {site.resolve()}/reports/{log_id}.html#" in text_of(mail)
        assert [] == re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', page)
    assert {"ada"} in seen
    assert {"bob"} in seen
    operators = mails(tmp_path)["operator ops@site.test"]
    assert [] == list(operators.iter_attachments())


def test_large_reports_are_not_attached(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A report that is too large for a mail is where its link leads, and the mail says nothing of a file."""
    monkeypatch.setattr(digest_room, "_MOST_ATTACHED", 1000)
    (site / "digest.toml").write_text(f'reports = "attachment"\n{SETTINGS}')
    digest(Order(site, user="ada", since=FIRST, outbox=tmp_path))
    (mail,) = mails(tmp_path).values()
    assert [] == list(mail.iter_attachments())
    assert "(attached)" not in text_of(mail)


def test_a_dry_run_notes_nothing(site: Path, tmp_path: Path):
    """A preview writes the mails and leaves no ledger, key or lock; the run after it sends all."""
    dry = digest(Order(site, since=FIRST, outbox=tmp_path / "dry", is_dry=True))
    assert ["digest.toml"] == [file.name for file in site.glob("digest*")]
    real = digest(Order(site, since=FIRST, outbox=tmp_path / "real"))
    assert dry.post.sent == real.post.sent
    texts = [{name: _without_links(text_of(mail)) for name, mail in mails(tmp_path / which).items()} for which in ("dry", "real")]
    assert texts[0] == texts[1]


def _without_links(text: str) -> str:
    return re.sub(r"\S*mailto:\S+", "", text)


@pytest.mark.parametrize(
    ("order", "sent"),
    [
        ({"user": "bob"}, ["user bob"]),
        ({"project": "p1"}, ["project p1"]),
        ({"is_operator": True}, ["operator operator"]),
        ({"user": "nobody"}, []),
    ],
    ids=str,
)
def test_one_can_be_written_to_alone(site: Path, tmp_path: Path, order: dict[str, Any], sent: list[str]):
    """A user, a project or operators alone get their mail, and whoever has no findings none."""
    done = digest(Order(site, since=FIRST, outbox=tmp_path, **order))
    assert sent == done.post.sent
    assert done.post.is_whole


def test_the_first_digest_reports_fourteen_nights(site: Path, facility: Facility, tmp_path: Path):
    """Without a mail before and without a date, the last 14 nights count, for users and for operators; there are twelve."""
    done = digest(Order(site, outbox=tmp_path))
    newest = max(log["night"] for log in facility.logs)
    assert newest == done.last_night
    first = newest - timedelta(days=13)
    for recipient in ("user ada@site.test", "operator ops@site.test"):
        text = " ".join(text_of(mails(tmp_path)[recipient]).split())
        assert f"the nights of {first.day} March to {newest.day} April 2024" in text
    assert NIGHTS < 14


@pytest.mark.proof
def test_excluded_accounts_are_not_mailed(site: Path, tmp_path: Path):
    """Runs charged to an excluded account are in nobody's mail, and it gets none."""
    (site / "digest.toml").write_text(f'{SETTINGS}[exclude]\naccounts = ["p1"]\n')
    done = digest(Order(site, since=FIRST, outbox=tmp_path))
    assert "project p1" not in done.post.sent
    query = (
        "SELECT count(*) AS n FROM findings JOIN (SELECT DISTINCT cluster, job_id FROM jobs WHERE account = 'p1') "
        "USING (cluster, job_id) WHERE \"user\" = 'ada'"
    )
    assert ask(site / "iomine.duckdb", query)["n"][0].as_py() > 0
    with_all = tmp_path / "all"
    (site / "digest.sqlite").unlink()
    (site / "digest.toml").write_text(SETTINGS)
    digest(Order(site, since=FIRST, outbox=with_all))
    assert text_of(mails(with_all)["user ada@site.test"]) != text_of(mails(tmp_path)["user ada@site.test"])


def test_operators_are_mailed_trouble_and_what_crosses_thresholds(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Their mail lists users without an address, sweeps, rejects, and a metric above its threshold and the night before."""
    (site / "digest.toml").write_text(f"{SETTINGS}[notices]\n{RISING} = 0.0\n")
    monkeypatch.setattr(digest_room, "_until", lambda *_: RISEN)
    done = digest(Order(site, since=FIRST, outbox=tmp_path))
    text = text_of(mails(tmp_path)["operator ops@site.test"])
    assert len(done.post.unknown) > 3
    assert "Users without an address" in text
    assert "3 sweeps; 303 found = 270 ingested + 15 known + 18 rejected" in " ".join(text.split())
    assert f"Notices - {RISING} is " in " ".join(text.split())


def test_settings_are_held_against_what_there_is(site: Path):
    """A notice that there is not, and another setting that there is not, are reported with the file's name and a hint."""
    (site / "digest.toml").write_text("[notices]\nrejected_ration = 0.1\n")
    with pytest.raises(UsageError, match=r"digest\.toml: There is no notice rejected_ration: did you mean rejected_ratio\?"):
        site_settings(site)
    (site / "digest.toml").write_text("cooldown = 3\n")
    with pytest.raises(UsageError, match=r"digest\.toml: .*cooldown.*did you mean cooldown_days"):
        site_settings(site)


@pytest.mark.parametrize(
    ("order", "reported"),
    [
        ({}, "Mails have no destination: give --outbox DIR or --smtp HOST:PORT, or set smtp.host in digest.toml."),
        ({"is_dry": True}, "A dry run writes mails to a folder: name it with --outbox."),
        ({"outbox": Path("x"), "smtp": ("h", 25)}, "--outbox and --smtp are two destinations for mails: leave one of them out."),
    ],
)
def test_where_mails_go_must_be_said(site: Path, order: dict[str, Any], reported: str):
    """Without a way for mails to go, or with two, one sentence says what to give."""
    with pytest.raises(UsageError, match=re.escape(reported)):
        digest(Order(site, **order))


def test_what_a_reader_asks_for_is_done(site: Path, tmp_path: Path):
    """A mail that a link has written quiets the finding that it is about, and no other."""
    digest(Order(site, since=FIRST, outbox=tmp_path, user="ada"))
    text = text_of(mails(tmp_path)["user ada@site.test"])
    acknowledged = text.split("Fixed, or intended:")[1]
    token = re.search(r"subject=iomine%20([\w.-]+)", acknowledged.replace("=\n", ""))
    assert token is not None
    done = take_mail(site, f"From: ada@site.test\nSubject: iomine {token[1]}\n\n".encode())
    assert "user ada: from now on, you get no word of" in done
    reported = digest(Order(site, since=FIRST, outbox=tmp_path / "again", is_dry=True, user="ada"))
    assert 1 == reported.quiet["acknowledged"]


@pytest.mark.proof
def test_what_is_given_up_is_mailed_anew(site: Path, tmp_path: Path):
    """Where no mail server was there for days, the run that gives mails up writes new ones, of the newest numbers."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        nobody = taken.getsockname()
        first = digest(Order(site, since=FIRST, smtp=nobody))
    assert "user ada" in dict(first.post.deferred)
    with sqlite3.connect(site / "digest.sqlite") as ledger:
        ledger.execute("UPDATE letter SET composed_at = '2024-04-01T00:00:00+00:00'")
    second = digest(Order(site, since=FIRST, outbox=tmp_path))
    assert "user ada" in dict(second.post.refused)
    assert "user ada" in second.post.sent
    assert "user ada@site.test" in mails(tmp_path)
