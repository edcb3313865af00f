"""One job of the facility: its programs run, one after the other, and each leaves a log."""

import datetime as dt
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from iomine.schema.ops import OPS
from iomine.simulate import filesystem as fs
from iomine.simulate.archetypes import ARCHETYPES
from iomine.simulate.contents import Contents, batch_of, contents_of
from iomine.simulate.network import NODES_PER_LEAF, RANKS_PER_NODE, network
from iomine.simulate.people import Application
from iomine.simulate.program import Program, Seat
from iomine.simulate.runs import Floats, Integers
from iomine.simulate.servers import NO_LOAD, Load, load_and_flows_of
from iomine.simulate.traffic import NO_TRAFFIC, Talk, Traffic, traffic_of
from iomine.sources.darshan.writing import Run, write_log

_PAUSE_SECONDS: Final = 8.0
_MOUNTS: Final = (("/", "ext4"), (fs.MOUNT, "lustre"), ("/home", "nfs4"), ("/dev", "devtmpfs"))
_METADATA: Final = {"lib_ver": "3.4.4", "h": "romio_no_indep_rw=true;cb_nodes=4"}
_STDOUT_RATIO: Final = 0.3
_MOST_LINES: Final = 400
_NANOSECONDS: Final = 1_000_000_000
# How much more or less than others of their archetype nodes of a job say to each other.
_TALK_SPREAD: Final = 0.3


@dataclass(frozen=True, slots=True)
class Job:
    """A job before it has run.

    Attributes:
        job_id: the scheduler's.
        number: its place among all jobs, from which its randomness comes.
        application: what it runs.
        log_count: how many times, one after the other; 0 for a job that leaves no log.
        submit: seconds since the epoch.
        start: seconds since the epoch, 0 if it never started.
        nodes: indices of its nodes.
    """

    job_id: int
    number: int
    application: Application
    log_count: int
    submit: int
    start: int
    nodes: Integers


class SlowLink(NamedTuple):
    """An uplink that makes ranks behind a leaf switch slow, in programs that begin meanwhile.

    Attributes:
        kind: the incident's.
        leaf: the leaf switch.
        start: seconds since the epoch.
        end: likewise.
        factor: how many times as long their requests take.
    """

    kind: str
    leaf: int
    start: float
    end: float
    factor: float


@dataclass(frozen=True, slots=True)
class Site:
    """What is the same for all jobs of a night.

    Attributes:
        out: folder of the facility.
        seed: from which all randomness comes.
        dxt_ratio: share of logs with traces.
        heatmap_ratio: share of logs with heat maps.
        state: system state of the night and the day after.
        state_start: seconds since the epoch.
        leaves: leaf switches, the older one not counted.
        slow_links: uplinks that make ranks slow.
    """

    out: Path
    seed: int
    dxt_ratio: float
    heatmap_ratio: float
    state: fs.SystemState
    state_start: float
    leaves: int
    slow_links: Sequence[SlowLink]


class Done(NamedTuple):
    """What a job left behind.

    Attributes:
        job: the job.
        steps: start and end of each of its programs, in seconds since the epoch.
        ranks: processes of each.
        logs: what is true of each log.
    """

    job: Job
    steps: list[tuple[float, float]]
    ranks: list[int]
    logs: list[dict[str, Any]]


class Outcome(NamedTuple):
    """What jobs left behind.

    Attributes:
        jobs: each of them.
        load: on the servers; `programs` are indices of jobs.
        traffic: on the fabric.
    """

    jobs: list[Done]
    load: Load
    traffic: Traffic


def run_jobs(site: Site, jobs: Sequence[Job]) -> Outcome:
    """Runs jobs and writes their logs."""
    found = [Done(job, [], [], []) for job in jobs]
    programs: list[Program] = []
    owners, starts, wanted, names = [], [], [], []
    for place, done in enumerate(found):
        job = done.job
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(site.seed, spawn_key=(1, job.number))))
        moment = job.start + float(rng.uniform(0.5, 3))
        for step in range(job.log_count):
            program, truth = run_program(site, job, step, moment, rng)
            programs.append(program)
            owners.append(place)
            starts.append(moment)
            wanted.append((rng.random() < site.dxt_ratio, rng.random() < site.heatmap_ratio))
            names.append(_name(job, moment, int(rng.integers(1 << 15, 1 << 22))))
            done.steps.append((moment, moment + program.seconds))
            done.ranks.append(program.nprocs)
            done.logs.append(truth)
            moment += program.seconds + _PAUSE_SECONDS
    if not programs:
        return Outcome(found, NO_LOAD, NO_TRAFFIC)
    batch = batch_of(programs)
    contents = contents_of(batch, *np.array(wanted).T)
    logs = [log for done in found for log in done.logs]
    for place, (program, start, name, log) in enumerate(zip(programs, starts, names, logs, strict=True)):
        log["log"] = name
        log |= _write(site.out / name, jobs[owners[place]], start, program, contents[place])  # noqa: PLW2901  the very same dict
    load, flows = load_and_flows_of(batch, np.array(starts))
    talks = (talk for place, done in enumerate(found) for talk in _talks(site, place, done))
    traffic = traffic_of(network(site.leaves), flows, np.array(owners), talks)
    return Outcome(found, load._replace(programs=np.array(owners)[load.programs]), traffic)


def _talks(site: Site, place: int, done: Done) -> Iterator[Talk]:
    """What the nodes of a job's programs say to each other; chance has a stream of its own."""
    job = done.job
    rate = ARCHETYPES[job.application.at(job.submit).archetype].mpi_bytes_per_second
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(site.seed, spawn_key=(3, job.number))))
    rate = int(rate * rng.lognormal(0, _TALK_SPREAD))
    for (start, end), ranks in zip(done.steps, done.ranks, strict=True):
        nodes = job.nodes[: -(-ranks // RANKS_PER_NODE)]
        if rate and len(nodes) > 1:
            yield Talk(place, start, end, nodes, rate * (ranks // len(nodes)))


def run_program(site: Site, job: Job, step: int, start: float, rng: np.random.Generator) -> tuple[Program, dict[str, Any]]:
    """One program of a job, and what is true of it."""
    application = job.application
    behaviour = application.at(job.submit)
    archetype, about = ARCHETYPES[behaviour.archetype], behaviour.parameters
    nprocs = about["nprocs"]
    nodes = job.nodes[np.arange(nprocs) // RANKS_PER_NODE]
    slowdowns, slowed_by = _slowdowns(site, nodes, start)
    folder = f"{fs.MOUNT}/{application.account}/{application.user}"
    seat = Seat(
        nprocs,
        nodes,
        slowdowns,
        start - site.state_start,
        application.mdt,
        f"{folder}/run.{job.job_id}.{step}",
        f"{folder}/{application.lineage}",
        slowed_by,
    )
    program = Program(seat, site.state, rng)
    archetype.act(program, about)
    if rng.random() < _STDOUT_RATIO:
        program.say(int(rng.integers(20, _MOST_LINES)))
    truth = archetype.truth(about)
    slow = np.flatnonzero((slowdowns > 1) & (slowed_by == "degraded_link"))
    has_stragglers = 0 < len(slow) < nprocs
    entry = {
        "user": application.user,
        "application": application.exe,
        "lineage": application.lineage,
        "archetype": behaviour.archetype,
        "patterns": sorted(truth.patterns),
        # Whether slow ranks show depends on how much they have to do.
        "open_questions": sorted(truth.open_questions | ({"stragglers"} if has_stragglers else set())),
        "nprocs": nprocs,
        "bursts": {name: program.bursts[op] for op, name in enumerate(OPS)},
        "slow_ranks": slow.tolist(),
    }
    return program, entry


def _slowdowns(site: Site, nodes: Integers, start: float) -> tuple[Floats, str]:
    """How slow the path of each rank is, and the kind of incident that makes it so."""
    slowdowns, kind = np.ones(len(nodes)), "degraded_link"
    for link in site.slow_links:
        is_behind = nodes // NODES_PER_LEAF == link.leaf
        if link.start <= start < link.end and is_behind.any():
            slowdowns[is_behind] *= link.factor
            kind = link.kind
    return slowdowns, kind


def _write(path: Path, job: Job, start: float, program: Program, contents: Contents) -> dict[str, Any]:
    """Writes the log of a program that has run; its name and what is known of its numbers."""
    application = job.application
    start_ns = int(start * _NANOSECONDS)
    end_ns = start_ns + int(program.seconds * _NANOSECONDS) + 1
    run = Run(application.uid, job.job_id, program.nprocs, start_ns, end_ns, application.exe, _MOUNTS, _METADATA)
    write_log(path, run, contents.names, contents.modules)
    io_seconds = contents.request_seconds + contents.meta_seconds
    return {
        "job_id": str(job.job_id),
        "read_bytes": contents.read_bytes,
        "write_bytes": contents.write_bytes,
        "run_seconds": program.seconds,
        "request_seconds": contents.request_seconds,
        "meta_seconds": contents.meta_seconds,
        "lost_seconds": program.lost_seconds,
        "lost_ratio": {kind: lost and lost / io_seconds for kind, lost in program.lost_seconds.items()},
        "has_trace": contents.has_trace,
        "has_heatmap": contents.has_heatmap,
    }


def _name(job: Job, start: float, pid: int) -> str:
    """Where Darshan would put the log, under a name as it would give it."""
    at = dt.datetime.fromtimestamp(start, dt.UTC)
    second = at.hour * 3600 + at.minute * 60 + at.second
    program = job.application.exe.split()[0].rpartition("/")[2]
    digest = int.from_bytes(hashlib.blake2b(f"{job.job_id}.{start}".encode(), digest_size=8).digest(), "little")
    name = f"{job.application.user}_{program}_id{job.job_id}-{pid}_{at.month}-{at.day}-{second}-{digest}_1.darshan"
    return f"darshan/{at.year}/{at.month}/{at.day}/{name}"
