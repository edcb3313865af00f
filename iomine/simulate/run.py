"""The facility as a whole: night after night, jobs run, and logs, servers, switches and scheduler record them."""

import datetime as dt
import json
import multiprocessing
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from iomine.errors import OutputError, UsageError, did_you_mean
from iomine.simulate import fabric, incidents, maps, slurm
from iomine.simulate.archetypes import ARCHETYPES, Parameters
from iomine.simulate.archetypes.model import PATTERNS
from iomine.simulate.jobs import Done, Job, Outcome, Site, SlowLink, run_jobs
from iomine.simulate.lustre import Servers
from iomine.simulate.network import Network, network
from iomine.simulate.people import Application, population
from iomine.simulate.schedule import DAY_SECONDS, MOST_RANKS, Scheduler, leaf_count

_JOBS_AT_ONCE: Final = 100
# Days on which jobs of a night begin: it, and those after it, where jobs have to wait.
_FOLDERS: Final = 3
Report = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """What to simulate.

    Attributes:
        out: folder to write to, which is made; it must be empty.
        log_count: logs in all.
        seed: the same seed gives the same facility, byte for byte.
        days: nights that the logs are spread over.
        cluster: name of the machine.
        start: first day.
        dxt_ratio: share of logs with DXT traces.
        heatmap_ratio: share of logs with heat maps.
        workers: processes, one per core if not given.
        archetype: what all users run; None for all kinds that are common.
        parameters: of that archetype, in place of what it draws.
        has_incidents: whether anything goes wrong, or well; the applications are the same without.
    """

    out: Path
    log_count: int = 1000
    seed: int = 0
    days: int = 7
    cluster: str = "default"
    start: dt.date = dt.date(2026, 1, 5)
    dxt_ratio: float = 0.1
    heatmap_ratio: float = 0.9
    workers: int | None = None
    archetype: str | None = None
    parameters: Parameters = field(default_factory=dict)
    has_incidents: bool = True


@dataclass(frozen=True, slots=True)
class Summary:
    """What was simulated.

    Attributes:
        logs: how many logs.
        jobs: how many jobs.
        archetypes: logs by archetype.
        incidents: kinds of incidents, with who caused them.
        seconds: how long it took.
    """

    logs: int
    jobs: int
    archetypes: dict[str, int]
    incidents: tuple[str, ...]
    seconds: float


def simulate(settings: Settings, report: Report) -> Summary:
    """Writes a facility.

    Args:
        settings: what to simulate.
        report: is called with progress: stage, done and total.

    Raises:
        UsageError: the settings make no sense, or the folder is not empty.
        OutputError: the folder cannot be written to.
    """
    _check(settings)
    begun = time.monotonic()
    start = int(dt.datetime.combine(settings.start, dt.time(), dt.UTC).timestamp())
    leaves = leaf_count(settings.log_count / settings.days, settings.parameters.get("nprocs", 0))
    people = population(_rng(settings.seed, 0, 0), settings.log_count, settings.archetype, settings.parameters)
    plan = _plan(settings, people, start, leaves)
    bad = [*plan.of_kind("degraded_link"), *plan.of_kind("shared_uplink")]
    slow_links = [SlowLink(each.kind, each.target, each.start, each.end, each.factor) for each in bad]
    scheduler = Scheduler(plan, start, leaves)
    servers = Servers(settings.out)
    archetypes: Counter[str] = Counter()
    jobs_done = 0
    try:
        with ExitStack() as stack:
            files = _Files(settings, network(leaves), stack)
            ports = fabric.Fabric(settings.out, network(leaves), bad, start)
            workers = _Workers(settings, stack)
            for night in range(settings.days):
                begin = start + night * DAY_SECONDS
                first, last = (settings.log_count * at // settings.days for at in (night, night + 1))
                jobs, state = scheduler.night(night, last - first, _rng(settings.seed, 2, night))
                if any(job.start >= begin + _FOLDERS * DAY_SECONDS for job in jobs):
                    raise UsageError("The machine is too small for so many large runs: ask for fewer --logs, or more --days.")
                ratios = settings.dxt_ratio, settings.heatmap_ratio
                site = Site(settings.out, settings.seed, *ratios, state, begin, leaves, slow_links)
                _make_folders(settings.out, begin)
                for outcome in workers.run(site, jobs):
                    files.add(outcome.jobs)
                    servers.add(outcome)
                    ports.add(outcome, files.traffic)
                    archetypes.update(log["archetype"] for done in outcome.jobs for log in done.logs)
                    jobs_done += len(outcome.jobs)
                    report("simulate", archetypes.total(), settings.log_count)
                servers.write(begin)
                ports.write(begin)
            files.finish(plan)
            ports.finish()
    except OSError as error:
        raise OutputError(f"{settings.out} cannot be written to ({error.strerror}): choose another folder.") from error
    kinds = tuple(f"{incident.kind} {incident.lineage}".strip() for incident in plan.incidents)
    return Summary(archetypes.total(), jobs_done, dict(archetypes.most_common()), kinds, time.monotonic() - begun)


def _plan(settings: Settings, people: Sequence[Application], start: int, leaves: int) -> incidents.Plan:
    if not settings.has_incidents:
        return incidents.Plan(tuple(people), ())
    planned = incidents.plan(_rng(settings.seed, 0, 1), people, start, settings.days, leaves)
    if not incidents.has_shared_uplink(settings.log_count, settings.days):
        return planned
    return incidents.with_shared_uplink(_rng(settings.seed, 0, 2), planned, start, settings.days, leaves)


def _check(settings: Settings) -> None:
    if settings.log_count < 0 or settings.days < 1:
        raise UsageError("A facility needs at least 0 logs and 1 day.")
    for name, ratio in (("--dxt-ratio", settings.dxt_ratio), ("--heatmap-ratio", settings.heatmap_ratio)):
        if not 0 <= ratio <= 1:
            raise UsageError(f"{name} is a share of logs: give a number from 0 to 1.")
    _check_archetype(settings)
    try:
        if settings.out.exists() and (not settings.out.is_dir() or any(settings.out.iterdir())):
            raise UsageError(f"{settings.out} is not an empty folder: name one that is, or that is not there yet.")
        settings.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{settings.out} cannot be made ({error.strerror}): choose another folder.") from error


def _check_archetype(settings: Settings) -> None:
    name, parameters = settings.archetype, settings.parameters
    if name is None:
        if parameters:
            raise UsageError("--set is for the archetype that --archetype names: give both.")
        return
    if name not in ARCHETYPES:
        hint = did_you_mean(name, ARCHETYPES) or f"choose one of {', '.join(ARCHETYPES)}."
        raise UsageError(f"There is no archetype {name}: {hint}")
    drawn = ARCHETYPES[name].draw(_rng(settings.seed))
    for each, value in parameters.items():
        if each not in drawn:
            hint = did_you_mean(each, drawn) or f"it has {', '.join(drawn)}."
            raise UsageError(f"{name} has no parameter {each}: {hint}")
        if value < 1:
            raise UsageError(f"--set {each} must be 1 or more, not {value}.")
    if parameters.get("nprocs", 0) > MOST_RANKS:
        raise UsageError(f"The machine holds at most {MOST_RANKS:,} ranks: set nprocs to no more.")


def _rng(seed: int, *key: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


def _make_folders(out: Path, begin: int) -> None:
    for day in range(_FOLDERS):
        at = dt.datetime.fromtimestamp(begin + day * DAY_SECONDS, dt.UTC)
        (out / "darshan" / f"{at.year}" / f"{at.month}" / f"{at.day}").mkdir(parents=True, exist_ok=True)


class _Files:
    """Files that grow job by job: accounting and truth."""

    def __init__(self, settings: Settings, tree: Network, stack: ExitStack) -> None:
        self._settings = settings
        for folder in ("darshan", "slurm", "truth"):
            (settings.out / folder).mkdir()
        self._sacct = stack.enter_context((settings.out / "slurm" / "sacct.txt").open("w"))
        self._sacct.write(slurm.header())
        self._logs = stack.enter_context((settings.out / "truth" / "logs.jsonl").open("w"))
        self.traffic = stack.enter_context(fabric.truth_file(settings.out))
        (settings.out / "slurm" / "topology.conf").write_text(maps.topology(tree))

    def add(self, done: Sequence[Done]) -> None:
        """Adds jobs."""
        self._sacct.write(slurm.lines(done))
        for job in done:
            self._logs.writelines(json.dumps(log) + "\n" for log in job.logs)

    def finish(self, plan: incidents.Plan) -> None:
        """Writes the truth about incidents."""
        settings = self._settings
        about = {"cluster": settings.cluster, "seed": settings.seed, "logs": settings.log_count, "days": settings.days}
        planned = about | {"start": settings.start.isoformat(), "incidents": [incident.truth() for incident in plan.incidents]}
        for name, content in (("incidents", planned), ("patterns", PATTERNS)):
            (settings.out / "truth" / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")


class _Workers:
    """Runs jobs in this process, or in several."""

    def __init__(self, settings: Settings, stack: ExitStack) -> None:
        count = settings.workers or len(os.sched_getaffinity(0))
        self._pool: ProcessPoolExecutor | None = None
        self._most_waiting = 2 * count
        if min(count, settings.log_count // _JOBS_AT_ONCE) > 1:
            context = multiprocessing.get_context("forkserver")
            self._pool = stack.enter_context(ProcessPoolExecutor(count, mp_context=context))

    def run(self, site: Site, jobs: Sequence[Job]) -> Iterator[Outcome]:
        """Jobs in order, some at once; few wait, since each carries the system state."""
        chunks = [jobs[first : first + _JOBS_AT_ONCE] for first in range(0, len(jobs), _JOBS_AT_ONCE)]
        if self._pool is None:
            yield from (run_jobs(site, chunk) for chunk in chunks)
            return
        waiting: deque[Future[Outcome]] = deque()
        for chunk in chunks:
            waiting.append(self._pool.submit(run_jobs, site, chunk))
            if len(waiting) == self._most_waiting:
                yield waiting.popleft().result()
        yield from (future.result() for future in waiting)
