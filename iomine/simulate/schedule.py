"""Which jobs are run in a night, when and where, and the system state that they make for each other."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from iomine.simulate import filesystem as fs
from iomine.simulate.archetypes import ARCHETYPES
from iomine.simulate.contents import batch_of
from iomine.simulate.incidents import Guest, Plan, culprit_of
from iomine.simulate.jobs import Job
from iomine.simulate.network import NODES_PER_LEAF, RANKS_PER_NODE
from iomine.simulate.people import Application, Behaviour
from iomine.simulate.program import Program, Seat
from iomine.simulate.runs import Floats
from iomine.simulate.servers import load_of

DAY_SECONDS: Final = 86_400
_DAY_MINUTES: Final = DAY_SECONDS // fs.MINUTE
_FIRST_JOB_ID: Final = 4_100_000
_STEPS_RATIOS: Final = (0.85, 0.10, 0.05)
# Jobs that leave no log: programs without Darshan, and jobs that fail or are cancelled early.
_NO_LOG_RATIO: Final = 0.04
_REHEARSED_AT_ONCE: Final = 50
_RESERVED: Final = 2.5
_RESERVED_SECONDS: Final = 900
_LOGS_PER_LEAF: Final = 100
# Jobs before a guest, among which is the one whose place it takes.
_MOST_PASSED: Final = 8
_FEWEST_LEAVES, _MOST_LEAVES = 16, 64
_LARGEST_AT_ONCE: Final = 4
RANKS_PER_LEAF: Final = NODES_PER_LEAF * RANKS_PER_NODE
MOST_RANKS: Final = _MOST_LEAVES * RANKS_PER_LEAF


def leaf_count(logs_per_night: float, ranks: int = 0) -> int:
    """Leaf switches of a facility with so many logs in a night, where several jobs of so many ranks find place at once.

    Args:
        logs_per_night: logs in a night.
        ranks: of the largest jobs, 0 where they are as large as archetypes make them.
    """
    for_ranks = _LARGEST_AT_ONCE * -(-ranks // RANKS_PER_LEAF)
    return int(np.clip(max(logs_per_night / _LOGS_PER_LEAF, for_ranks), _FEWEST_LEAVES, _MOST_LEAVES))


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What one run of an application is like on an idle machine.

    Attributes:
        seconds: how long it takes.
        moved_bytes: bytes by minute.
        meta_calls: metadata calls by minute.
    """

    seconds: float
    moved_bytes: Floats
    meta_calls: Floats


@dataclass
class Scheduler:
    """Gives jobs their nodes, first come, first served, and knows the load that they are about to make.

    Attributes:
        plan: applications and incidents.
        start: beginning of the first night, in seconds since the epoch.
        leaves: leaf switches.
        free_at: when each node will be free.
        load: bytes for all OSTs, and calls for each MDT, by minute of this night and the next day.
    """

    plan: Plan
    start: int
    leaves: int
    job_count: int = 0
    free_at: Floats = field(init=False)
    load: Floats = field(default_factory=lambda: np.zeros((1 + fs.MDT_COUNT, 2 * _DAY_MINUTES)))
    rehearsals: dict[tuple[str, float], Rehearsal] = field(init=False)

    def __post_init__(self) -> None:
        self.free_at = np.zeros(self.leaves * NODES_PER_LEAF)
        self.rehearsals = _rehearsals(self.plan.applications)

    def night(self, night: int, log_count: int, rng: np.random.Generator) -> tuple[list[Job], fs.SystemState]:
        """Jobs of a night, by their submission, and the system state that they and incidents make."""
        begin = self.start + night * DAY_SECONDS
        self.load = np.concatenate([self.load[:, _DAY_MINUTES:], np.zeros((1 + fs.MDT_COUNT, _DAY_MINUTES))], axis=1)
        weights = np.cumsum([application.weight for application in self.plan.applications])
        sizes = _log_counts(log_count, rng)
        moments = np.sort(_moments(len(sizes), rng)) + begin
        jobs = []
        for moment, size in zip(moments.tolist(), sizes, strict=True):
            place = int(np.searchsorted(weights, rng.random() * weights[-1], side="right"))
            application = culprit_of(self.plan, moment, rng) or self.plan.applications[place]
            first_node = int(rng.integers(len(self.free_at)))
            jobs.append(self._job(application, size, int(moment), begin, first_node))
        state = self._state(begin)
        for guest in self.plan.guests:
            if begin <= guest.moment < begin + DAY_SECONDS:
                self._seat(guest, jobs)
        return jobs, state

    def _seat(self, guest: Guest, jobs: list[Job]) -> None:
        """Runs a guest in place of a job of one log that was submitted before, one of those that are run most often.

        The nodes that were meant for that job stay idle, and its load is left in the system state, so that a guest
        changes nothing for others.
        """
        changing = {incident.lineage for incident in self.plan.incidents}
        places = [
            place
            for place, job in enumerate(jobs)
            if job.log_count == 1 and job.application.weight and job.application.lineage not in changing
        ]
        before = [place for place in places if jobs[place].submit < guest.moment][-_MOST_PASSED:] or places[:1]
        if not before:
            return
        place = max(before, key=lambda place: jobs[place].application.weight)
        start = max(guest.moment, jobs[place].submit + 1)
        parameters = guest.application.at(guest.moment).parameters
        count = -(-parameters["nprocs"] // RANKS_PER_NODE)
        nodes = self.leaves * NODES_PER_LEAF + guest.first_node + np.arange(count)
        jobs[place] = replace(jobs[place], application=guest.application, start=start, nodes=nodes)

    def _job(self, application: Application, log_count: int, submit: int, begin: int, first_node: int) -> Job:
        behaviour = application.at(submit)
        rehearsal = self.rehearsals[application.lineage, behaviour.since]
        nodes_needed = -(-behaviour.parameters["nprocs"] // RANKS_PER_NODE)
        self.job_count += 1
        job_id = _FIRST_JOB_ID + self.job_count
        # The nodes that are free first, and of those the ones that follow a given one.
        waits = np.roll(np.maximum(self.free_at, submit), -first_node)
        nodes = np.sort((np.argsort(waits, kind="stable")[:nodes_needed] + first_node) % len(waits))
        start = int(max(submit + 1, np.ceil(self.free_at[nodes].max())))
        self.free_at[nodes] = start + _RESERVED * rehearsal.seconds * max(1, log_count) + _RESERVED_SECONDS
        for step in range(log_count):
            self._add_load(rehearsal, application, start + step * rehearsal.seconds - begin)
        return Job(job_id, self.job_count, application, log_count, submit, start, nodes)

    def _add_load(self, rehearsal: Rehearsal, application: Application, begin: float) -> None:
        minute = int(begin // fs.MINUTE)
        for row, amounts in ((0, rehearsal.moved_bytes), (1 + application.mdt, rehearsal.meta_calls)):
            room = self.load[row, minute : minute + len(amounts)]
            room += amounts[: len(room)]

    def _state(self, begin: int) -> fs.SystemState:
        capacity = np.array([fs.OST_COUNT * fs.OST_BYTES_PER_SECOND, *[fs.MDT_CALLS_PER_SECOND] * fs.MDT_COUNT]) * fs.MINUTE
        factors = {
            "hot_ost": np.ones((fs.OST_COUNT, 2 * _DAY_MINUTES)),
            "metadata_storm": np.ones((fs.MDT_COUNT, 2 * _DAY_MINUTES)),
        }
        for kind, targets in factors.items():
            for incident in self.plan.of_kind(kind):
                first, last = (
                    int(np.clip((at - begin) // fs.MINUTE, 0, 2 * _DAY_MINUTES)) for at in (incident.start, incident.end)
                )
                targets[incident.target, first:last] *= incident.factor
        return fs.SystemState(np.maximum(1, self.load / capacity[:, None]), *factors.values())


def _rehearsals(applications: Sequence[Application]) -> dict[tuple[str, float], Rehearsal]:
    """What each application is like, by lineage and the time since when it behaves so."""
    acts = [(application, behaviour) for application in applications for behaviour in application.behaviours]
    found = {}
    for first in range(0, len(acts), _REHEARSED_AT_ONCE):
        some = acts[first : first + _REHEARSED_AT_ONCE]
        programs = [_rehearsed(application, behaviour) for application, behaviour in some]
        load = load_of(batch_of(programs), np.zeros(len(programs)))
        is_ost = load.targets < fs.OST_COUNT
        length = int(load.minutes.max(initial=0)) + 1
        moved, calls = np.zeros((2, len(programs), length))
        np.add.at(moved, (load.programs, load.minutes), load.amounts[::3].sum(axis=0) * is_ost)
        np.add.at(calls, (load.programs, load.minutes), load.amounts[::2].sum(axis=0) * ~is_ost)
        for place, ((application, behaviour), program) in enumerate(zip(some, programs, strict=True)):
            minutes = int(program.seconds) // fs.MINUTE + 1
            found[application.lineage, behaviour.since] = Rehearsal(
                program.seconds, moved[place, :minutes], calls[place, :minutes]
            )
    return found


def _rehearsed(application: Application, behaviour: Behaviour) -> Program:
    nprocs = behaviour.parameters["nprocs"]
    seat = Seat(nprocs, np.zeros(nprocs, np.int64), np.ones(nprocs), 0.0, application.mdt, "/scratch/run", "/scratch/project")
    program = Program(seat, fs.idle_state(1), np.random.default_rng(0))
    ARCHETYPES[behaviour.archetype].act(program, behaviour.parameters)
    return program


def _log_counts(log_count: int, rng: np.random.Generator) -> list[int]:
    """Logs of each job of a night; a few jobs leave none."""
    sizes: list[int] = []
    left = log_count
    while left > 0:
        size = 0 if rng.random() < _NO_LOG_RATIO else min(left, 1 + int(rng.choice(len(_STEPS_RATIOS), p=_STEPS_RATIOS)))
        sizes.append(size)
        left -= size
    return sizes


def _moments(count: int, rng: np.random.Generator) -> Floats:
    """Seconds of a day at which jobs are submitted: most in the afternoon, the others at any time."""
    by_day = rng.normal(14.0, 3.5, count) % 24 * 3600
    moments: Floats = np.where(rng.random(count) < 0.6, by_day, rng.random(count) * DAY_SECONDS)  # noqa: PLR2004  people and scripts
    return moments
