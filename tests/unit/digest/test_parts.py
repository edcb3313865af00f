"""Both parts of mails: they say the same, fit, and stay harmless whatever names there are."""

import random
import re
from datetime import date, timedelta
from typing import Any

import pytest
from mail_rows import all_mails, database, plain_lines, read_html, since, words
from outline import HOSTILE

from iomine.digest.operator import Trouble, operator_mail
from iomine.digest.words import COLUMNS, full_day, span
from iomine.post.model import Mail
from iomine.triggers import MANUALS
from iomine.triggers.model import FINDING_LEVELS
from iomine.views.answers import Ask

_AXIS = re.compile(r'<p class="axis[^>]*>.*?</p>')
FIRST, LAST = date(2024, 4, 1), date(2024, 4, 14)
CODES = [code for code, each in MANUALS.items() if each.trigger.ruleset == "iomine" and each.trigger.level in FINDING_LEVELS]
NASTY = (*HOSTILE.values(), "{{link:stop}}", "ada\nBcc: all@site.test", "\u200b\u2066x", "\ue000\ue001", "ok")
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ue000\ue001]")
Row = dict[str, Any]


def _log(dice: random.Random, number: int) -> Row:
    return {
        "cluster": dice.choice(("blue", HOSTILE["tag"])), "night": FIRST + timedelta(days=dice.randrange(14)),
        "log_id": f"{number:016x}", "user": "ada", "application": dice.choice(NASTY), "app": dice.choice((*NASTY, "python3")),
        "exe": dice.choice(NASTY), "lineage_id": "a", "job_id": dice.choice(NASTY), "nprocs": 64, "run_seconds": 3723.0,
        "run_core_seconds": 64 * 3723.0, "io_core_seconds": 1e5,
    }  # fmt: skip


def _finding(dice: random.Random, log: Row, code: str) -> Row:
    trigger = MANUALS[code].trigger
    path = f"/scratch/{dice.choice(NASTY)}/" + "p" * dice.choice((5, 4096))

    def filled(template: str) -> str:
        # As a view fills it in: names as they are, and numbers.
        return re.sub(
            r"\{(\w+)[^}]*\}", lambda slot: path if slot[1].endswith("_path") else f"{dice.randrange(10**9):,}", template
        )

    cost = 3600 * dice.uniform(1, 9999)
    return {name: log[name] for name in ("cluster", "night", "log_id")} | {
        "code": code, "level": trigger.level.value, "finding": filled(trigger.finding),
        "advice": filled(trigger.templates("advice")[0]),
        "evidence": dice.choice((None, "trace", HOSTILE["quotes"])), "cost_core_seconds": cost, "charged_core_seconds": cost,
    }  # fmt: skip


def _outcome(number: int) -> Row:
    return {
        "cluster": "blue", "lineage_id": f"{number}", "user": "ada", "application": NASTY[number % len(NASTY)],
        "outcome": "gone", "is_over": True, "code": CODES[number % len(CODES)],
        "told_night": FIRST, "clear_night": FIRST, "saved_core_seconds": 1e9, "later_count": 9,
        "later_fired_count": 0, "clear_since_count": 9,
    }  # fmt: skip


@pytest.fixture(scope="module")
def ask() -> Ask:
    """Ten thousand findings of a user whose every name is hostile or long."""
    dice = random.Random(7)
    logs = [_log(dice, number) for number in range(1000)]
    findings = [_finding(dice, log, code) for log in logs for code in dice.sample(CODES, 10)]
    system_state = [log | {"weather_verdict": "system", "weather_slowdown_ratio": 5.0, "is_excused": True} for log in logs[::10]]
    return database(
        {
            "logs": logs,
            "findings": findings,
            "job_weather": system_state,
            "advice_outcomes": [_outcome(number) for number in range(60)],
        }
    )


@pytest.fixture(scope="module", params=["https://io.site.test", None], ids=["site", "files"])
def mail(request, ask: Ask) -> Mail:
    return all_mails(ask, since(FIRST, LAST), request.param)["ada"]


def test_mails_stay_small(mail: Mail):
    """However much there is to say, with room for the post's links both parts and the pictures are far below 100 KB."""
    assert mail.entries
    assert len(mail.text.encode()) < 10_000
    assert len(mail.html.encode()) < 20_000
    assert sum(map(len, mail.pictures.values())) < 3000


def test_what_is_read_first_is_short(mail: Mail):
    """Up to the signature line there are 25 lines, or one entry if not even two fit; each entry says what to do."""
    read, _, rest = mail.text.partition("\n-- \n")
    assert len(read.splitlines()) <= 25 or len(mail.entries) == 1
    assert len(mail.entries) == read.count("   Do this: ")
    assert "add up" in " ".join(rest.split())


def test_both_parts_say_the_same(mail: Mail):
    """But for what links and pictures need, both parts have the same words and numbers in the same order, and the same titles."""
    plain = "\n".join(plain_lines(mail.text)).split("\nTo answer\n")[0]
    rich = read_html(_AXIS.sub("", mail.html))
    answers = r"Fixed, or intended: don't tell me again|Remind me in a month|Undo|Stop these mails|\(by mail\)"
    shown = re.sub(answers, "", rich.text)
    assert _signs(plain) == _signs(shown)
    titles = [_signs(title) for title in rich.headings if title[0].isdigit()]
    assert titles == [_signs(title) for title in _titles(mail.text, len(mail.entries))]


def _signs(text: str) -> str:
    """Alphanumeric characters, whatever stands between them."""
    return re.sub(r"[\W_]+", "", text)


def _titles(text: str, count: int) -> list[str]:
    """Titles of entries: their number, and what stands up to the cost."""
    found = []
    for number in range(1, count + 1):
        begun = text.split(f"\n{number}. ", 1)[1]
        lines = begun.split("\n")
        end = next(place for place, line in enumerate(lines) if "core-hour" in line)
        found.append(f"{number}. " + "".join(lines[:end]))
    return found


def test_the_plain_part_fits_into_72_columns(mail: Mail):
    """No line is longer except for addresses and commands, which must not be broken."""
    lines = [line for line in plain_lines(mail.text) if "/reports/" not in line and not line.startswith("   $ ")]
    assert [] == [line for line in lines if len(line) > COLUMNS]


def test_hostile_names_stay_names(mail: Mail):
    """No control character, none that turns text around, no tag, no place of the post's beyond its own, and one clean subject."""
    assert not CONTROLS.search(mail.text)
    assert not CONTROLS.search(mail.html)
    assert mail.subject.isprintable()
    assert len(mail.subject) <= 110
    tags = read_html(mail.html).tags
    assert tags <= set("html head meta title style body div p h2 h3 ul li strong span pre code a img bdi".split())
    keys = {entry.subject.key for entry in mail.entries}
    for part in (mail.text, mail.html):
        places = re.findall(r"\{\{.*?\}\}", part)
        assert {re.sub(r"^\{\{(link|mailto):|\}\}$", "", place) for place in places} == {
            "stop", "undo", *(f"{action}:{key}" for action in ("acknowledge", "snooze", "undo") for key in keys)
        }  # fmt: skip
        assert places.count("{{mailto:stop}}") == 1


def test_nothing_comes_from_elsewhere(mail: Mail):
    """The HTML part names no address but reports, its own pictures and the post's places."""
    for source in read_html(mail.html).sources:
        assert re.match(r"https://io\.site\.test/reports/[0-9a-f]{16}\.html#[A-Z]+-\d{3}$|cid:nights$|\{\{", source)
    assert "url(" not in mail.html
    assert set(mail.pictures) == {"nights"}
    assert mail.pictures["nights"].startswith(b"\x89PNG")


def test_pictures_are_said_in_words(mail: Mail):
    """Each picture has a text in its place, which names the night that cost most."""
    (alt,) = re.findall(r'<img[^>]*alt="([^"]+)"', mail.html)
    night = re.search(r"(?:most|the largest part) of it on (.+?) \(", " ".join(mail.text.split()))
    assert night is not None
    assert alt.endswith(f"on {night[1]}.")


def test_the_picture_of_nights_has_dates_at_its_ends(mail: Mail, ask: Ask):
    """The first and the last night; of a long time the first that is shown, which the words for the picture name too."""
    ends = (full_day(FIRST), full_day(LAST))
    assert ends == _ends(mail.html)
    long = all_mails(ask, since(LAST - timedelta(days=400), LAST), None)["ada"]
    begin = LAST - timedelta(days=119)
    assert (full_day(begin), full_day(LAST)) == _ends(long.html)
    assert f"Core-hours by night, {span(begin, LAST)}:" in long.html


def _ends(html: str) -> tuple[str, str]:
    (axis,) = _AXIS.findall(html)
    first, last = re.findall(r"<span[^>]*>([^<]*)</span>", axis)
    return first, last


def test_operators_mails_bear_hostile_names(ask: Ask):
    """What the post could not do is reported with whatever names there are, in lines that fit."""
    troubles = [Trouble("Users without an address", [(each, each) for each in NASTY * 200])]
    mail = operator_mail(_nothing_but(ask), FIRST, LAST, {}, troubles)
    assert mail is not None
    assert not CONTROLS.search(mail.text + mail.html)
    assert [] == [line for line in plain_lines(mail.text) if len(line) > COLUMNS]
    assert "{{" not in mail.text + mail.html
    assert len(mail.html) < 20_000


def _nothing_but(ask: Ask) -> Ask:
    """Answers as over a warehouse in which nothing was swept."""

    def empty(sql: str, parameters: Any = None) -> Any:
        return ask("SELECT 1 AS x, 0 AS sweep_count, 0 AS rejected_count WHERE false")

    return empty


def test_mails_are_the_same_for_the_same(ask: Ask):
    """Written twice, a mail is the same to the last sign."""
    one, other = (all_mails(ask, since(FIRST, LAST))["ada"] for _ in range(2))
    assert one == other


def test_entries_name_what_they_are_about(mail: Mail):
    """Entries come the costliest first, with the title that both parts show."""
    costs = [entry.cost_core_seconds or 0 for entry in mail.entries]
    assert sorted(costs, reverse=True) == costs
    for entry in mail.entries:
        assert words(entry.title) in words(mail.text)
