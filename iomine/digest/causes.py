"""Which codes are one cause, so that a mail lists a mistake once.

Other codes are listed under the costliest code of an application where both are signs of one cause in nearly all of their runs
(`cause_code` of the verdicts); the rest are causes of their own. A cause is called as the reports of its runs call it, those
that cost most together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from iomine.post.model import Subject
from iomine.views.answers import Row

# Share of the runs in which a code fired that must have the same cause as the lead.
NEARLY_ALL: Final = 0.8


@dataclass(frozen=True, slots=True)
class Sign:
    """A code that fired in runs of an application.

    Attributes:
        code: of the trigger.
        level: `high` or `warn`.
        run_count: runs in which it fired.
        night_count: nights of these.
        first_night: the first of them.
        last_night: the last of them.
        cost_core_seconds: what it cost in all of them, with the time in which others stood idle; None where that is not known.
        charged_core_seconds: its part of the sum of all costs of these runs.
        charged_rank_seconds: that for a rank, summed over runs.
        run_seconds: how long these runs were, summed up, as far as their cost is known.
        timed_run_count: how many these are.
        log_id: the costliest run, of those whose report calls a cause by it, if there are any.
        night: of that run.
        job_count: jobs of these runs, each run without one counted as its own.
        job_id: the job of that run, None where that has none.
        idle_core_seconds: of the cost, the time in which other ranks stood idle while one did I/O; None where none is known.
        led_core_seconds: of the cost, that of runs whose report calls a cause by it, 0 where none is known; None if no report
            does.
        facility_cost_core_seconds: of what is charged, that of runs in which the facility has to fix its cause.
        own_idle_core_seconds: of the idle time, that of the other runs; None where none is known.
    """

    code: str
    level: str
    run_count: int
    night_count: int
    first_night: date
    last_night: date
    cost_core_seconds: float | None
    charged_core_seconds: float | None
    charged_rank_seconds: float | None
    run_seconds: float | None
    timed_run_count: int
    log_id: str
    night: date
    job_count: int = 0
    job_id: str | None = None
    idle_core_seconds: float | None = None
    led_core_seconds: float | None = None
    facility_cost_core_seconds: float | None = None
    own_idle_core_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Cause:
    """What is wrong with an application of a user, once.

    Attributes:
        cluster: the machine.
        user: whose runs.
        application: what was run.
        lead: the sign by which it is called.
        others: signs of the same, the costliest first.
    """

    cluster: str
    user: str
    application: str
    lead: Sign
    others: tuple[Sign, ...]

    @property
    def subject(self) -> Subject:
        """What the post knows it by."""
        return self.subject_of(self.lead)

    def subject_of(self, sign: Sign) -> Subject:
        """What the post would know it by if this sign led."""
        return Subject(self.cluster, self.user, self.application, sign.code)

    @property
    def cost_core_seconds(self) -> float | None:
        """What its signs add to the sum of all costs, None where nothing is known; the costs of causes add up."""
        charged = [sign.charged_core_seconds for sign in (self.lead, *self.others) if sign.charged_core_seconds is not None]
        return sum(charged) if charged else None

    @property
    def own_core_seconds(self) -> float | None:
        """That without the facility's part, None where nothing is known."""
        if self.cost_core_seconds is None:
            return None
        return self.cost_core_seconds - sum(sign.facility_cost_core_seconds or 0.0 for sign in (self.lead, *self.others))

    @property
    def seconds_of_run(self) -> tuple[float, float] | None:
        """That for a rank of a run of the lead, and how long the run was, on average; None where either is not known."""
        charged = [sign.charged_rank_seconds for sign in (self.lead, *self.others) if sign.charged_rank_seconds is not None]
        count, whole = self.lead.timed_run_count, self.lead.run_seconds
        return (min(sum(charged), whole) / count, whole / count) if charged and whole else None

    @property
    def idle_core_seconds(self) -> float:
        """For how long other ranks stood idle meanwhile, which is no part of the costs; its signs are about the same time."""
        return max(sign.idle_core_seconds or 0.0 for sign in (self.lead, *self.others))

    @property
    def lost_core_seconds(self) -> float:
        """Costs and idle time without the facility's part: what it weighs among others, and whether it is worth a mail."""
        idle = max(sign.own_idle_core_seconds or 0.0 for sign in (self.lead, *self.others))
        return (self.own_core_seconds or 0.0) + idle

    def could_lead(self) -> tuple[Sign, ...]:
        """The lead, and signs that cost at least half as much: in other nights one of them may have led."""
        half = (self.lead.cost_core_seconds or 0) / 2
        return (self.lead, *(sign for sign in self.others if (sign.cost_core_seconds or 0) >= half > 0))


def sign_of(row: Row) -> Sign:
    """A sign, of a row of the question for signs."""
    plain = {name: row[name] for name in Sign.__slots__ if name in row}
    return Sign(**plain, **row["costliest"])


def causes_of(
    cluster: str, user: str, application: str, signs: Sequence[Sign], together: Mapping[tuple[str, str], int]
) -> list[Cause]:
    """The causes behind the signs of an application, the costliest first.

    Args:
        cluster: the machine.
        user: whose runs.
        application: what was run.
        signs: what fired in them.
        together: in how many runs two codes were signs of one cause.
    """
    left = sorted(signs, key=_weight)
    found = []
    while left:
        lead, *rest = left
        others = [sign for sign in rest if _is_under(lead, sign, together)]
        left = [sign for sign in rest if sign not in others]
        called = _called(lead, others)
        found.append(Cause(cluster, user, application, called, tuple(sign for sign in (lead, *others) if sign is not called)))
    return found


def _called(costliest: Sign, others: Sequence[Sign]) -> Sign:
    """The sign by which reports call the cause, in the runs that cost most together, of those that nearly all its runs have."""
    usual = [sign for sign in others if sign.run_count >= NEARLY_ALL * costliest.run_count]
    return max((costliest, *usual), key=lambda sign: -1.0 if sign.led_core_seconds is None else sign.led_core_seconds)


def _weight(sign: Sign) -> tuple[float, bool, str]:
    """Sorts by cost first, then by weight, the largest first."""
    cost = -1.0 if sign.cost_core_seconds is None else sign.cost_core_seconds
    # Digits in which sums of the same numbers may differ do not count.
    return -float(f"{cost:.6g}"), sign.level != "high", sign.code


def _is_under(lead: Sign, sign: Sign, together: Mapping[tuple[str, str], int]) -> bool:
    return together.get((lead.code, sign.code), 0) >= NEARLY_ALL * sign.run_count
