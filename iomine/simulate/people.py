"""Who uses the facility: users of projects, each with a few applications that they run again and again."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from iomine.simulate import filesystem as fs
from iomine.simulate.archetypes import ARCHETYPES, Parameters

_FIRST_UID: Final = 20_000
_USERS_PER_PROJECT: Final = 3
_MOST_USERS: Final = 400
# Zipf's law for users: the n-th most active has this power of 1/n of the activity of the first.
_ZIPF_POWER: Final = 0.8
_NAMES: Final = (
    "ada agnes alan amara boris carla chen dana elif emil farid fiona goran hana ines ivan jaya jonas kaito kira lars "
    "leila marek mina nadia noor olaf otto petra priya quinn rosa samir sven tara tomas uma vera wei yusuf"
).split()


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How an application behaves in jobs that are submitted from a moment on.

    Attributes:
        since: seconds since the epoch.
        archetype: name of its archetype.
        parameters: what the archetype drew for it.
    """

    since: float
    archetype: str
    parameters: Parameters


@dataclass(frozen=True, slots=True)
class Application:
    """A program of a user, run again and again.

    Attributes:
        lineage: id that all of its runs share.
        user: login name.
        uid: numeric id of the user.
        account: the project.
        exe: command line.
        mdt: MDT of the project's folders.
        weight: how often it is run, beside others.
        behaviours: one after the other.
    """

    lineage: str
    user: str
    uid: int
    account: str
    exe: str
    mdt: int
    weight: float
    behaviours: tuple[Behaviour, ...]

    def at(self, moment: float) -> Behaviour:
        """How it behaves at a moment."""
        return [behaviour for behaviour in self.behaviours if behaviour.since <= moment or not behaviour.since][-1]

    def from_now(self, since: float, archetype: str, parameters: Parameters) -> "Application":
        """The same, behaving otherwise from a moment on."""
        return replace(self, behaviours=(*self.behaviours, Behaviour(since, archetype, parameters)))


def population(
    rng: np.random.Generator, log_count: int, only: str | None = None, parameters: Parameters | None = None
) -> list[Application]:
    """Users and their applications, as many as a facility with so many logs has.

    Args:
        rng: what makes them differ.
        log_count: logs of the facility.
        only: the archetype of all applications, None for those that are common.
        parameters: what all applications have in place of what their archetype draws, if anything.
    """
    weights = {name: archetype.weight for name, archetype in ARCHETYPES.items() if archetype.weight}
    if only is not None:
        weights = {only: 1.0}
    users = int(np.clip(2 * np.sqrt(log_count), 8, _MOST_USERS))
    return [application for number in range(users) for application in _applications(rng, number, weights, parameters or {})]


def _applications(rng: np.random.Generator, number: int, kinds: Mapping[str, float], parameters: Parameters) -> list[Application]:
    weights = np.array(list(kinds.values()))
    user = _NAMES[number % len(_NAMES)] + (str(number // len(_NAMES)) if number >= len(_NAMES) else "")
    account = f"prj{number // _USERS_PER_PROJECT:03d}"
    count = min(len(kinds), int(rng.choice([1, 2, 3], p=[0.3, 0.5, 0.2])))
    activity = (number + 1) ** -_ZIPF_POWER
    found = []
    for place, kind in enumerate(rng.choice(list(kinds), count, p=weights / weights.sum(), replace=False)):
        exe = str(rng.choice(ARCHETYPES[kind].exe))
        behaviour = Behaviour(0.0, str(kind), {**ARCHETYPES[kind].draw(rng), **parameters})
        lineage = f"{user}.{exe.split(maxsplit=1)[0]}.{place}"
        mdt = number // _USERS_PER_PROJECT % fs.MDT_COUNT
        command = f"/sw/{account}/bin/{exe}"
        weight = activity * (place + 1) ** -1.0
        found.append(Application(lineage, user, _FIRST_UID + number, account, command, mdt, weight, (behaviour,)))
    return found
