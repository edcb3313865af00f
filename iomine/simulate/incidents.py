"""What goes wrong, when, and whom it hits: planned before anything runs, and written into the truth file.

A hot OST and a metadata storm each have a culprit, an application that is run in their time, and make one target slow.
A regression and advice that is followed change how one application behaves from a date on. A degraded link makes the
path to the file system slow for all nodes behind one leaf switch. An uplink is shared by two applications of two users: each
ran alone before, and together they fill it.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np

from iomine.simulate import filesystem as fs
from iomine.simulate.archetypes import ARCHETYPES
from iomine.simulate.network import OLD_NODES, STORAGE_UPLINK
from iomine.simulate.people import Application
from iomine.simulate.traffic import SLOT_SECONDS

_HOUR: Final = 3600.0
_DAY: Final = 24 * _HOUR
_CULPRIT_SHARE: Final = 0.3
_LEAST_LOGS: Final = 200
_LEAST_NIGHTLY_LOGS: Final = 50
_SHARERS: Final = 2
# How often each of them ran alone.
_TURNS: Final = 3
_SHARED_FACTOR: Final = 1.75
_SHARED_SECONDS: Final = 1800


@dataclass(frozen=True, slots=True)
class Incident:
    """Something that goes wrong, or well.

    Attributes:
        kind: `hot_ost`, `metadata_storm`, `regression`, `advice_followed`, `degraded_link` or `shared_uplink`.
        start: when it begins, in seconds since the epoch.
        end: when it ends.
        target: OST, MDT or leaf switch that it makes slow, -1 for none.
        factor: how many times slower that is, or about how many times longer an application's requests are in number.
        user: who causes it, or whose application it is, empty for nobody; two with a blank between them share an uplink.
        lineage: the application, likewise.
        effect: what should be seen.
    """

    kind: str
    start: float
    end: float
    target: int
    factor: float
    user: str
    lineage: str
    effect: str

    def truth(self) -> dict[str, Any]:
        """As it stands in the truth file."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Guest:
    """A job on the nodes of the older leaf switch, in place of one that would have run elsewhere.

    Attributes:
        moment: when it starts, in seconds since the epoch.
        application: what it runs.
        first_node: first of its nodes, among those of the leaf switch.
    """

    moment: int
    application: Application
    first_node: int


@dataclass(frozen=True, slots=True)
class Plan:
    """All that happens.

    Attributes:
        applications: those of all users, with what incidents make of them; culprits come last and have no weight.
        incidents: what goes wrong.
        guests: jobs that are run beside those of the applications.
    """

    applications: tuple[Application, ...]
    incidents: tuple[Incident, ...]
    guests: tuple[Guest, ...] = ()

    def of_kind(self, kind: str) -> list[Incident]:
        """The incidents of one kind."""
        return [incident for incident in self.incidents if incident.kind == kind]


def plan(rng: np.random.Generator, applications: Sequence[Application], start: float, days: int, leaves: int) -> Plan:
    """Five incidents, spread over the period.

    Args:
        rng: what chooses targets and times.
        applications: of all users.
        start: beginning of the period, in seconds since the epoch.
        days: its length.
        leaves: leaf switches of the fabric.
    """
    length = days * _DAY

    def at(share: float) -> float:
        return start + share * length + rng.uniform(0, 0.04) * length

    def window(share: float) -> tuple[float, float]:
        begin = at(share)
        return begin, begin + min(3 * _HOUR, 0.12 * length)

    ost, mdt, leaf = (int(rng.integers(count)) for count in (fs.OST_COUNT, fs.MDT_COUNT, leaves))
    hot, storm, link = window(0.30), window(0.55), (at(0.66), at(0.84))
    people = list(applications)
    hog = _culprit(
        rng, people, "single_ost_output", {"ost": ost, "nprocs": 128, "requests": 32, "dumps": 3, "compute_seconds": 20}
    )
    poller = _culprit(rng, [person for person in people if person.mdt == mdt] or people, "metadata_poll", {})
    mdt = poller.mdt
    incidents = [
        Incident("hot_ost", *hot, ost, 8.0, hog.user, hog.lineage, f"requests to files on OST {ost} take about 8 times as long"),
        Incident(
            "metadata_storm",
            *storm,
            mdt,
            10.0,
            poller.user,
            poller.lineage,
            f"metadata calls on MDT {mdt} take about 10 times as long",
        ),
        Incident(
            "degraded_link",
            *link,
            leaf,
            4.0,
            "",
            "",
            f"ranks on nodes behind leaf switch {leaf} take about 4 times as long for a request",
        ),
    ]
    incidents += _changes(people, at(0.48), at(0.44), start + length)
    return Plan((*people, hog, poller), tuple(sorted(incidents, key=lambda incident: incident.start)))


def has_shared_uplink(log_count: int, days: int) -> bool:
    """Whether there are jobs enough for some to make place for those that share an uplink."""
    return log_count >= max(_LEAST_LOGS, _LEAST_NIGHTLY_LOGS * days)


def with_shared_uplink(rng: np.random.Generator, planned: Plan, start: float, days: int, leaves: int) -> Plan:
    """The plan, and an uplink that two jobs fill, which is that of the older leaf switch.

    The two applications take turns first, so that it is known how long they take.

    Args:
        rng: what chooses users and time; all else is as it was without the incident.
        planned: all else that happens.
        start: beginning of the period, in seconds since the epoch.
        days: its length.
        leaves: leaf switches of the fabric; the older one comes after them.
    """
    busy = {incident.user for incident in planned.incidents}
    owners = list({person.user: person for person in planned.applications if person.user not in busy}.values())
    length = days * _DAY
    sharers = [_own(rng, owners[place], "bulk_output", {}) for place in rng.permutation(len(owners))[:_SHARERS].tolist()]
    begin = int(-(-(start + (0.9 + rng.uniform(0, 0.04)) * length) // SLOT_SECONDS) * SLOT_SECONDS)
    alone = [Guest(int(start + (0.3 + 0.1 * turn) * length), sharers[turn % _SHARERS], 0) for turn in range(_SHARERS * _TURNS)]
    together = [Guest(begin + 5, each, place * OLD_NODES // _SHARERS) for place, each in enumerate(sharers)]
    users, lineages = (" ".join(getattr(each, name) for each in sharers) for name in ("user", "lineage"))
    effect = f"together they fill uplink {STORAGE_UPLINK} of leaf switch {leaves}; requests take {_SHARED_FACTOR} times as long"
    when = float(begin), float(begin + _SHARED_SECONDS)
    shared = Incident("shared_uplink", *when, leaves, _SHARED_FACTOR, users, lineages, effect)
    incidents = tuple(sorted((*planned.incidents, shared), key=lambda incident: incident.start))
    return replace(planned, incidents=incidents, guests=(*alone, *together))


def _culprit(rng: np.random.Generator, people: Sequence[Application], kind: str, parameters: dict[str, int]) -> Application:
    """A new application of someone, that is run only in the time of an incident."""
    return _own(rng, people[int(rng.integers(len(people)))], kind, parameters)


def _own(rng: np.random.Generator, owner: Application, kind: str, parameters: dict[str, int]) -> Application:
    """A new application of a user, of a kind that nobody has otherwise."""
    archetype = ARCHETYPES[kind]
    exe = archetype.exe[0]
    fresh = replace(owner.behaviours[0], archetype=kind, parameters={**archetype.draw(rng), **parameters})
    return replace(owner, lineage=f"{owner.user}.{exe}.x", exe=f"/sw/{owner.account}/bin/{exe}", weight=0.0, behaviours=(fresh,))


def _changes(people: list[Application], worse: float, better: float, end: float) -> list[Incident]:
    """Changes the most active applications that can change, in place."""
    found = []
    regressing = _busiest(people, "checkpoint")
    if regressing is not None:
        before = people[regressing].behaviours[0]
        ill = ARCHETYPES["checkpoint"].ill
        factor = before.parameters["request_bytes"] / ill["request_bytes"]
        people[regressing] = people[regressing].from_now(worse, "checkpoint", {**before.parameters, **ill})
        user, lineage = people[regressing].user, people[regressing].lineage
        effect = f"it moves the same bytes in {factor:.0f} times as many requests, small and misaligned, and takes longer"
        found.append(Incident("regression", worse, end, -1, factor, user, lineage, effect))
    following = _busiest(people, "rank0_funnel")
    if following is not None:
        before = people[following].behaviours[0]
        nprocs = max(8, before.parameters["nprocs"])
        after = {"nprocs": nprocs, "part_bytes": max(1 << 20, (256 << 20) // nprocs), "datasets": 2, "stripes": 8}
        kept = {name: before.parameters[name] for name in ("dumps", "compute_seconds")}
        people[following] = people[following].from_now(better, "hdf5_collective", {**after, **kept})
        user, lineage = people[following].user, people[following].lineage
        effect = "rank 0 no longer reads and writes for all, so its findings disappear"
        found.append(Incident("advice_followed", better, end, -1, 1.0, user, lineage, effect))
    return found


def _busiest(people: Sequence[Application], kind: str) -> int | None:
    places = [place for place, person in enumerate(people) if person.behaviours[0].archetype == kind]
    return max(places, key=lambda place: people[place].weight, default=None)


def culprit_of(plan: Plan, moment: float, rng: np.random.Generator) -> Application | None:
    """The culprit whose job begins at a moment in place of somebody else's, if any."""
    for kind in ("hot_ost", "metadata_storm"):
        for incident in plan.of_kind(kind):
            if incident.start <= moment < incident.end and rng.random() < _CULPRIT_SHARE:
                return next(person for person in plan.applications if person.lineage == incident.lineage)
    return None
