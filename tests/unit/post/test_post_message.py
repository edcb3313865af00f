"""A mail as a mail, read back by Python's own parser."""

import base64
import datetime as dt
import re
from dataclasses import replace
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from post_office import NIGHT, NOW, PNG, SIGNER, entry, mail_to, parsed

from iomine.errors import OutputError
from iomine.post.directory import Person
from iomine.post.message import MOST_BYTES, Stamp, compose, message_id
from iomine.post.model import Mail, Subject
from iomine.post.settings import Settings
from iomine.post.tokens import Action

SETTINGS = Settings(
    from_name="I/O at Site, Inc.",
    from_address="iomine@site.test",
    reply_to="help@site.test",
    actions_address="iomine-do@site.test",
    site="https://iomine.site.test/io",
)
ADA = Person("ada@site.test", "Ada Lovelace")


def made(what: Mail, person: Person = ADA, settings: Settings = SETTINGS, first: str | None = None) -> bytes:
    name = message_id(what, person.address, settings)
    return compose(what, person, settings, SIGNER, Stamp(name, first, NOW))


def test_both_parts_and_pictures_are_there():
    """Text first and HTML with its pictures after, as mail programs expect it, with the texts as they were written."""
    what = mail_to("ada", text="Größe: 3 µs\n", html='<p>Größe: 3 µs <img src="cid:cost"></p>')
    mail = parsed(made(what))
    assert "multipart/alternative" == mail.get_content_type()
    text, related = mail.iter_parts()
    html, picture = related.iter_parts()
    assert ["text/plain", "multipart/related", "text/html", "image/png"] == [
        part.get_content_type() for part in (text, related, html, picture)
    ]
    assert "Größe: 3 µs\n" == text.get_content().replace("\r\n", "\n")
    assert '<p>Größe: 3 µs <img src="cid:cost"></p>' == html.get_content().strip()
    assert ("<cost>", "inline", PNG) == (picture["Content-ID"], picture.get_content_disposition(), picture.get_content())
    assert ["text/plain", "text/html"] == [
        part.get_content_type() for part in parsed(made(replace(what, pictures={}))).iter_parts()
    ]


def test_headers():
    """All that people, lists, vacation programs and filters go by."""
    mail = parsed(made(mail_to("ada")))
    assert NOW == mail["Date"].datetime
    assert ("I O at Site Inc", "iomine@site.test") == (
        mail["From"].addresses[0].display_name,
        mail["From"].addresses[0].addr_spec,
    )
    assert ("Ada Lovelace", "ada@site.test") == (mail["To"].addresses[0].display_name, mail["To"].addresses[0].addr_spec)
    assert f"Your runs up to {NIGHT}" == mail["Subject"]
    expected = {
        "Reply-To": "help@site.test",
        "Auto-Submitted": "auto-generated",
        "Precedence": "bulk",
        "X-Auto-Response-Suppress": "All",
        "List-Id": "<user.digest.iomine.site.test>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "MIME-Version": "1.0",
    }
    assert expected == {name: mail[name] for name in expected}
    assert re.fullmatch(r"<[0-9a-f]{32}@site\.test>", mail["Message-ID"])
    assert len(mail.keys()) == len({name.lower() for name in mail.keys()})  # noqa: SIM118  a mail may have a name twice


def test_first_mail_starts_the_thread():
    """All later ones answer to it."""
    first = parsed(made(mail_to("ada")))
    later = parsed(made(mail_to("ada", night=NIGHT + dt.timedelta(days=14)), first=first["Message-ID"]))
    assert {"References", "In-Reply-To"}.isdisjoint(first.keys())
    assert [first["Message-ID"]] * 2 == [later["References"], later["In-Reply-To"]]
    assert first["Message-ID"] != later["Message-ID"]


def test_id_is_of_the_mail():
    """However often it is composed; another night, reader, kind or subject is another mail. Operators get one a night."""

    def named(what: Mail, address: str = "a@site.test") -> str:
        return message_id(what, address, SETTINGS)

    plain = mail_to("ada")
    assert named(plain) == named(replace(plain, subject="x", text="y", html="z", pictures={}), "b@site.test")
    others = [
        mail_to("bob"),
        mail_to("ada", kind="project"),
        mail_to("ada", night=NIGHT + dt.timedelta(days=1)),
        mail_to("ada", entry("ada", "POSIX-102")),
        mail_to("ada", entry("ada"), entry("ada", "POSIX-102")),
        mail_to("ada", better=(entry("ada").subject,)),
        mail_to("ada", entry("bob"), better=(entry("ada").subject,)),
    ]
    assert 1 + len(others) == len({named(plain), *map(named, others)})
    operator = mail_to("operator", kind="operator")
    assert named(operator) == named(replace(operator, entries=(entry("ada"),)))
    assert named(operator) != named(operator, "b@site.test")


def links_in(mail: bytes) -> tuple[list[str], list[str]]:
    text, related = parsed(mail).iter_parts()
    html = next(related.iter_parts()).get_content()
    return re.findall(r"https?://\S+|mailto:\S+", text.get_content()), [
        unescape(each) for each in re.findall(r'href="([^"]+)"', html)
    ]


def action_of(link: str) -> Action:
    parts = urlsplit(link)
    return SIGNER.action(
        parse_qs(parts.query)["subject"][0].split()[1] if parts.scheme == "mailto" else parts.path.split("/")[-1]
    )


def test_links_are_signed_for_their_reader():
    """Each is about what its place says, for the reader of the mail, at the site or by a mail."""
    what = mail_to("ada", html='<a href="{{link:stop}}">x</a><a href="{{mailto:stop}}">x</a><a href="{{link:snooze:%s}}">x</a>')
    key = what.entries[0].subject.key
    (first,), (stop, by_mail, snooze) = links_in(made(replace(what, html=what.html % key)))
    assert first.startswith("https://iomine.site.test/io/mail/")
    assert Action("acknowledge", "user", "ada", key) == action_of(first)
    assert Action("stop", "user", "ada") == action_of(stop) == action_of(by_mail)
    assert Action("snooze", "user", "ada", key, 30) == action_of(snooze)
    assert by_mail.startswith("mailto:iomine-do@site.test?subject=iomine%20")


def test_unsubscribe_headers_are_whole():
    """RFC 8058: the address and the mail, neither cut nor encoded, whatever their length; without https there is no one-click."""
    project = mail_to("chem042", entry("ada"), kind="project")
    raw = made(project)
    lines = re.search(rb"^List-Unsubscribe: (.*(?:\r\n[ \t].*)*)\r\n", raw, re.MULTILINE)[1].decode()
    site, by_mail = (each.strip("<>") for each in re.split(r",\s+", lines))
    assert Action("stop", "project", "chem042") == action_of(site) == action_of(by_mail)
    assert f"<{site}>, <{by_mail}>" == " ".join(parsed(raw)["List-Unsubscribe"].split())
    for other in ("", "http://localhost:8123"):
        mail = parsed(made(project, settings=SETTINGS.changed(site=other)))
        assert "List-Unsubscribe-Post" not in mail
        assert bool(other) == ("http:" in mail["List-Unsubscribe"])
        assert "mailto:" in mail["List-Unsubscribe"]


def test_operators_cannot_stop_each_others_mails():
    """Their mail goes to all of them, so who gets it stands in the settings."""
    assert "List-Unsubscribe" not in parsed(made(mail_to("operator", kind="operator", html="<p></p>", pictures={})))


def test_links_without_a_site_write_mails():
    """Every place still has a link that does something."""
    (text,), (html, by_mail) = links_in(made(mail_to("ada"), settings=SETTINGS.changed(site="", actions_address="", reply_to="")))
    assert all(link.startswith("mailto:iomine@site.test?subject=iomine%20") for link in (text, html, by_mail))
    assert "acknowledge" == action_of(text).verb
    assert "snooze" == action_of(html).verb


def test_only_what_is_listed_has_links():
    """A place for another subject is a mistake of the program's; what is none stays as it is."""
    with pytest.raises(ValueError, match="which is none of its entries"):
        made(mail_to("ada", text=f"{{{{link:acknowledge:{entry('bob').subject.key}}}}}"))
    text = "{{ 7 * 7 }} {{link:stop }} {{link:other}} {{mailto}} {{link:acknowledge:12}}\n"
    assert text == next(parsed(made(mail_to("ada", text=text))).iter_parts()).get_content().replace("\r\n", "\n")


HOSTILE = [
    "root\nBcc: all@site.test",
    "root\r\n\r\n<script>alert(1)</script>",
    "a\0b\x1b[2J\x7f",
    "\u202eabc\u200b\u200f\ufeff\u2028x\u2029\x85",
    "<b>&\"'`;--",
    "=?utf-8?q?=0ABcc:_all@site.test?=",
    "==?utf-8?b?CkJjYzogYWxsQHNpdGUudGVzdA==?= =?",
    "Größe 大きさ 🐘",
    "x" * 5000,
    "\udc80",
    ', all@site.test, "a" <b@site.test>, group: c@site.test;',
]


WORDS = st.sampled_from(["to", "change,", "core-hours", "41.3", "dns_box", "x" * 60, "Überläufe", "größer", "大きさ", "…"])


@given(st.lists(WORDS, min_size=1, max_size=20), st.sampled_from([str, ascii]))
def test_subjects_begin_on_their_first_line(words, form):
    """A subject is folded between words, and comes back as it was; the line of the header's name is never empty."""
    subject = form(" ".join(words))[:200].strip()
    raw = made(replace(mail_to("ada"), subject=subject))
    assert subject == parsed(raw)["Subject"]
    first, *others = re.search(rb"^Subject: ([^\r]+(?:\r\n [^\r]+)*)", raw, re.MULTILINE)[0].split(b"\r\n")
    assert max(map(len, (first, *others))) <= 78
    if subject.isascii():
        assert subject == b"".join((first, *others)).decode().removeprefix("Subject: ")
        # What the next line begins with had no room.
        assert all(len(line) + len(following.split()[0]) > 77 for line, following in zip((first, *others), others, strict=False))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_stay_where_they_are(text):
    """Whatever a name holds, the mail has its own headers and no other, one reader, and one subject that can be seen."""
    what = mail_to("ada", entry("ada", application=text), subject=f"About {text}", html="<p></p>")
    raw = made(what, Person("ada@site.test", text), SETTINGS.model_copy(update={"from_name": text}))
    mail = parsed(raw)
    assert set(parsed(made(mail_to("ada"))).keys()) == set(mail.keys())
    assert ["ada@site.test"] == [address.addr_spec for address in mail["To"].addresses]
    assert ["iomine@site.test"] == [address.addr_spec for address in mail["From"].addresses]
    assert str(mail["Subject"]).startswith("About")
    assert str(mail["Subject"]).isprintable()
    assert mail["To"].addresses[0].display_name.isprintable()
    assert max(map(len, raw.split(b"\r\n"))) <= 998
    assert b"\n" not in raw.replace(b"\r\n", b"")
    assert raw.isascii()


@given(st.text(max_size=300), st.text(max_size=300))
def test_no_name_breaks_a_mail(subject, name):
    """Any text may be a subject and a name: the mail has one reader, its headers, and both parts."""
    mail = parsed(made(mail_to("ada", subject=subject), Person("ada@site.test", name)))
    assert ["ada@site.test"] == [address.addr_spec for address in mail["To"].addresses]
    assert NOW == mail["Date"].datetime
    assert {"Bcc", "Cc"}.isdisjoint(mail.keys())
    assert 2 == len(list(mail.iter_parts()))


def test_key_of_a_subject_is_of_all_its_parts():
    """Whatever parts hold, moving signs from one to the next makes another subject."""
    parts = ["a", "1:b", "", "\udc80", "a1", ":b"]
    subjects = {Subject(a, b, c, d) for a in parts for b in parts for c in parts for d in parts}
    assert len(subjects) == len({subject.key for subject in subjects})


def test_size_has_a_bound():
    """A mail over 100 KB is none; one just below it goes."""
    small, large = (mail_to("ada", html=f"<p>{'x' * count}</p>", pictures={}) for count in (60_000, 100_000))
    assert len(made(small)) < MOST_BYTES
    with pytest.raises(OutputError, match=r"The mail is 1\d\d,\d{3} bytes; the limit is"):
        made(large)
    noise = base64.b85encode(bytes(range(256)) * 300)
    with pytest.raises(OutputError):
        made(mail_to("ada", pictures={"cost": noise}))


def test_name_of_a_picture_is_checked():
    """It becomes a header and a file name."""
    with pytest.raises(ValueError, match="cannot name a picture"):
        made(mail_to("ada", pictures={"a\nb": PNG}))
