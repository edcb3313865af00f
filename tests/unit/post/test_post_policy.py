"""Notification policy against a model that remembers everything and looks through all of it each time."""

import datetime as dt
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from post_office import NIGHT, NOW, SIGNER, Books, entry, mail_to, office

from iomine.post.deliver import deliver
from iomine.post.ledger import Ledger
from iomine.post.model import Entry
from iomine.post.policy import NotificationPolicy
from iomine.post.settings import Exclusions, Settings
from iomine.post.tokens import Action
from iomine.post.transports import Outcome

USERS, APPS, CODES = ("ada", "bob", "cyd"), ("lmp", "vasp"), ("P1", "P2", "P3")
EXCLUDED = Exclusions(users=("cyd",), accounts=("chem",), applications=("vasp",))


@dataclass
class Model:
    """All that has happened, day by day."""

    settings: Settings
    reported: list[tuple[int, str, str]] = field(default_factory=list)
    asked: list[tuple[int, Action]] = field(default_factory=list)
    waiting: list[tuple[int, str, list[Entry]]] = field(default_factory=list)

    def reason(self, day: int, user: str, each: Entry) -> str | None:
        """Why a finding is not mailed to a reader on a day, by the rules as the page on digests has them."""
        mine = [(then, action) for then, action in self.asked if action.recipient == user]
        about = [(then, action) for then, action in mine if action.key == each.subject.key]
        rules = {
            "excluded": user in self.settings.exclude.users or each.subject.application in self.settings.exclude.applications,
            "opted out": any(action.verb == "stop" for _, action in mine),
            "acknowledged": any(action.verb == "acknowledge" for _, action in about),
            "snoozed": any(action.verb == "snooze" and day < then + action.days for then, action in about),
            "cooldown": any(
                key == each.subject.key and who == user and day < then + self.settings.cooldown_days
                for then, who, key in self.reported
            ),
            "too cheap": (each.cost_core_seconds or 0) / 3600 < self.settings.least_core_hours,
        }
        order = ("excluded", "opted out", "acknowledged", "snoozed", "cooldown", "too cheap")
        return next((name for name in order if rules[name]), None)

    def mailed_today(self, day: int, user: str, found: list[Entry]) -> list[Entry]:
        """What is mailed, the costliest first, as much as there is room for."""
        loud = [each for each in found if self.reason(day, user, each) is None]
        return sorted(loud, key=lambda each: (-(each.cost_core_seconds or 0), each.subject))[: self.settings.most_entries]


FINDING = st.tuples(st.sampled_from(APPS), st.sampled_from(CODES), st.sampled_from([None, 0.0, 0.5, 1.0, 2.0, 50.0]))
CLICK = st.tuples(st.sampled_from(["acknowledge", "snooze", "snooze", "stop"]), st.sampled_from(CODES), st.integers(1, 9))
DAY = st.fixed_dictionaries(
    {
        "passes": st.integers(1, 6),
        "found": st.dictionaries(st.sampled_from(USERS), st.lists(FINDING, max_size=6), max_size=3),
        "ends": st.dictionaries(st.sampled_from(USERS), st.sampled_from(["sent", "later", "refused", "doubtful"])),
        "clicks": st.lists(st.tuples(st.sampled_from(USERS), CLICK), max_size=1),
    }
)


def priced(each: Entry, hours: float | None) -> Entry:
    return replace(each, cost_core_seconds=hours and hours * 3600)


@settings(max_examples=100)
@given(st.lists(DAY, max_size=12), st.integers(0, 14), st.integers(1, 3), st.integers(1, 3))
@pytest.mark.proof
def test_what_is_mailed_is_what_the_rules_say(days, cooldown, most_entries, most_mails):
    """Each run mails each reader what the whole history gives, with the reasons for the rest.

    That is over random histories of findings, clicks and a mail server's whims; and no more than so many mails leave.
    """
    site = {"cooldown_days": cooldown, "most_entries": most_entries, "most_mails": most_mails, "exclude": EXCLUDED}
    # What is not taken at once is given up by the next run, so that each run is about its own mails.
    rules = Settings(**site, give_up_days=1)
    model, ledger, today = Model(rules), Ledger(None), 0
    for number, day in enumerate(days):
        today += day["passes"] + 1
        now = NOW + dt.timedelta(days=today)
        for user, (verb, code, length) in day["clicks"]:
            action = Action(verb, "user", user, "" if verb == "stop" else entry(user, code).subject.key, length)
            ledger.wish(action, now.date())
            model.asked.append((today, action))

        # After some days without a run, the first one tries again what waits.
        deliver([], office(ledger, Books(plan=lambda _mail: Outcome("later", "?")), now=now, give_up_days=1, **site))
        assert [] == deliver([], office(ledger, now=now, give_up_days=1, **site)).sent
        policy, mails, expected = NotificationPolicy(rules, ledger, now.date()), [], {}
        for user, findings in day["found"].items():
            found = {
                (app, code): Entry(entry(user, code, app).subject, "T", cost and cost * 3600, NIGHT)
                for app, code, cost in findings
            }
            choice = policy.choose("user", user, found.values())
            expected[user] = model.mailed_today(today, user, list(found.values()))
            assert expected[user] == list(choice.entries)
            reasons = {each.subject: reason for each in found.values() if (reason := model.reason(today, user, each))}
            assert reasons == {each.subject: reason for each, reason in choice.quiet}
            assert len(found) == len(choice.entries) + len(choice.quiet) + len(choice.more)
            if choice.entries:
                mails.append(mail_to(user, *choice.entries, night=NIGHT + dt.timedelta(days=number)))

        books = Books(plan=lambda mail, ends=day["ends"]: Outcome(ends.get(mail.address.partition("@")[0], "sent"), "?"))
        summary = deliver(mails, office(ledger, books, now=now, give_up_days=1, **site))
        dearest = sorted(mails, key=lambda each: (-sum(one.cost_core_seconds or 0 for one in each.entries), each.recipient))
        leaving = [each.recipient for each in dearest[:most_mails]]
        assert leaving == [mail.address.partition("@")[0] for mail in books.mails]
        assert [f"user {each.recipient}" for each in dearest[most_mails:]] == summary.waiting
        for user in leaving:
            if day["ends"].get(user, "sent") == "sent":
                model.reported += [(today, user, each.subject.key) for each in expected[user]]


def test_readers_have_their_own_manners():
    """What one reader was mailed or asked for does not count for another, nor for the mails about a project."""
    ledger, day = Ledger(None), NOW.date()
    one = entry("ada")
    deliver([mail_to("ada", one)], office(ledger))
    ledger.wish(Action("stop", "user", "bob"), day)
    policy = NotificationPolicy(Settings(), ledger, day)
    assert "cooldown" == policy.quiet("user", "ada", one.subject)
    assert policy.quiet("project", "ada", one.subject) is None
    assert policy.quiet("user", "cyd", one.subject) is None
    assert ("opted out", None) == (policy.quiet_recipient("user", "bob"), policy.quiet_recipient("project", "bob"))
    assert policy.quiet("operator", "operator", one.subject) is None


@pytest.mark.parametrize(("days", "reason"), [(0, "cooldown"), (13, "cooldown"), (14, None)])
def test_cooldown_ends_on_its_day(days, reason):
    """A finding that is mailed on a day is mailed again after the cooldown."""
    ledger = Ledger(None)
    deliver([mail_to("ada")], office(ledger))
    assert reason == NotificationPolicy(Settings(), ledger, NOW.date() + dt.timedelta(days=days)).quiet(
        "user", "ada", entry("ada").subject
    )


def test_opt_out_is_for_good():
    """Years later, and whatever else has been asked for since."""
    ledger = Ledger(None)
    ledger.wish(SIGNER.action(SIGNER.token(Action("stop", "user", "ada"))), NOW.date())
    ledger.wish(Action("snooze", "user", "ada", entry("ada").subject.key, 3), NOW.date() + dt.timedelta(days=9))
    assert "opted out" == NotificationPolicy(Settings(), ledger, NOW.date() + dt.timedelta(days=9999)).quiet_recipient(
        "user", "ada"
    )


def test_good_news_is_mailed_once():
    """And again when the finding was mailed again since, and is gone again."""
    ledger, subject = Ledger(None), entry("ada").subject

    def is_praised(days: int) -> bool:
        return NotificationPolicy(Settings(), ledger, NOW.date() + dt.timedelta(days=days)).is_praised("user", "ada", subject)

    for days, what, expected in (
        (0, mail_to("ada"), False),
        (20, mail_to("ada", entries=(), better=(subject,)), True),
        (40, mail_to("ada", night=NIGHT + dt.timedelta(days=40)), False),
        (60, mail_to("ada", entries=(), better=(subject,), night=NIGHT + dt.timedelta(days=60)), True),
    ):
        assert ["user ada"] == deliver([what], office(ledger, now=NOW + dt.timedelta(days=days))).sent
        assert expected == is_praised(days)


def test_ten_thousand_findings():
    """Five are listed, the others are counted, and it takes no time to speak of."""
    found = [entry("ada", f"C{number}", hours=number) for number in range(10_000)]
    choice = NotificationPolicy(Settings(), Ledger(None), NOW.date()).choose("user", "ada", found)
    assert [9999, 9998, 9997, 9996, 9995] == [(each.cost_core_seconds or 0) / 3600 for each in choice.entries]
    assert (1, 9994) == (len(choice.quiet), len(choice.more))
