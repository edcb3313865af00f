"""What the truth says that incidents cost each log is what it would not have taken without them."""

import numpy as np
import pytest
from simulated import Facility

from iomine.schema.ops import WRITE
from iomine.simulate import filesystem as fs
from iomine.simulate.archetypes import ARCHETYPES
from iomine.simulate.contents import batch_of, contents_of
from iomine.simulate.program import Program, Seat
from iomine.simulate.servers import OST_AMOUNTS, load_of
from iomine.sources.darshan import read_log

HOT, STORMY = 5, 2
FACTOR = 8.0
LOAD = 1.3
MINUTES = 3
ALL = slice(None)


def system_state(minutes: slice, *, hot: bool = False, storm: bool = False) -> fs.SystemState:
    """Loaded targets, of which one has an incident in some minutes."""
    ost_factors, mdt_factors = np.ones((fs.OST_COUNT, MINUTES)), np.ones((fs.MDT_COUNT, MINUTES))
    if hot:
        ost_factors[HOT, minutes] = FACTOR
    if storm:
        mdt_factors[STORMY, minutes] = FACTOR
    return fs.SystemState(np.full((1 + fs.MDT_COUNT, MINUTES), LOAD), ost_factors, mdt_factors)


def program(state: fs.SystemState, nprocs: int = 4) -> Program:
    """One that has yet to do something, in folders of the stormy MDT."""
    seat = Seat(nprocs, np.zeros(nprocs, np.int64), np.ones(nprocs), 0.0, STORMY, "/scratch/run", "/scratch/project")
    return Program(seat, state, np.random.default_rng(7))


def io_seconds(done: Program) -> float:
    """Time in requests and metadata calls, as its log would have it."""
    (contents,) = contents_of(batch_of([done]), np.zeros(1, bool), np.zeros(1, bool))
    return contents.request_seconds + contents.meta_seconds


@pytest.mark.parametrize("archetype", sorted(ARCHETYPES))
@pytest.mark.parametrize("kind", ["hot_ost", "metadata_storm"])
def test_lost_is_what_would_not_have_been_spent(archetype: str, kind: str) -> None:
    """A run through an incident lost by how much longer it took for the same calls than the same run in the same load."""
    kept = {"hot": kind == "hot_ost", "storm": kind == "metadata_storm"}
    about = ARCHETYPES[archetype].draw(np.random.default_rng(3))
    ran = []
    for state in (system_state(ALL, **kept), system_state(ALL)):
        ran.append(program(state, about["nprocs"]))
        ARCHETYPES[archetype].act(ran[-1], about)
    struck, spared = ran
    assert {"hot_ost": 0.0, "metadata_storm": 0.0, "degraded_link": 0.0} == spared.lost_seconds
    assert {kind: pytest.approx(io_seconds(struck) - io_seconds(spared), rel=1e-9, abs=1e-9)} == {
        each: lost for each, lost in struck.lost_seconds.items() if lost or each == kind
    }


@pytest.mark.parametrize(
    ("first_ost", "stripes", "ratio"),
    [(HOT, 1, 1 - 1 / FACTOR), (HOT + 1, 1, 0.0), (HOT - 1, 4, 1 - 4 / (3 + FACTOR)), (HOT + 1, fs.OST_COUNT - 1, 0.0)],
)
def test_a_file_loses_by_its_stripes_on_the_hot_ost(first_ost: int, stripes: int, ratio: float) -> None:
    """On that OST alone all but 1/factor of the time is lost, beside it nothing at all, and in between the mean over stripes."""
    done = program(system_state(ALL, hot=True))
    file = done.files(["/scratch/run/file"], stripes, first_ost=first_ost)
    done.transfer(WRITE, file, done.ranks << 20, 1 << 20, 10)
    lost = {"hot_ost": pytest.approx(ratio * io_seconds(done)), "metadata_storm": 0.0, "degraded_link": 0.0}
    assert lost == done.lost_seconds
    assert ratio > 0 or done.lost_seconds["hot_ost"] == 0


def test_nothing_is_lost_outside_of_the_window() -> None:
    """Of equal bursts in three minutes, of which the incidents fill the second, that one alone loses."""
    done = program(system_state(slice(1, 2), hot=True, storm=True))
    file = done.files(["/scratch/run/file"], first_ost=HOT)
    lost = []
    for _ in range(MINUTES):
        before = dict(done.lost_seconds)
        done.open(file)
        done.transfer(WRITE, file, 0, 1 << 20, 10)
        lost.append([kind for kind in before if done.lost_seconds[kind] > before[kind]])
        done.compute(60.0)
    assert [[], ["hot_ost", "metadata_storm"], []] == lost


@pytest.mark.parametrize("archetype", sorted(ARCHETYPES))
def test_ranks_behind_a_degraded_link_lose_what_it_costs_them(archetype: str) -> None:
    """A run behind it lost by how much longer it took for the same calls than the same run elsewhere, which lost nothing."""
    about = ARCHETYPES[archetype].draw(np.random.default_rng(3))
    nprocs = about["nprocs"]
    ran = []
    for slowdown in (FACTOR, 1.0):
        seat = Seat(
            nprocs, np.zeros(nprocs, np.int64), np.full(nprocs, slowdown), 0.0, STORMY, "/scratch/run", "/scratch/project"
        )
        ran.append(Program(seat, fs.idle_state(MINUTES), np.random.default_rng(7)))
        ARCHETYPES[archetype].act(ran[-1], about)
    struck, spared = ran
    assert pytest.approx(io_seconds(struck) - io_seconds(spared), rel=1e-6) == struck.lost_seconds["degraded_link"]
    assert spared.lost_seconds["degraded_link"] == 0


def test_servers_see_which_of_a_files_osts_is_hot() -> None:
    """Of a file over four OSTs, the hot one takes 8 times as long as each other, which take a latency and a bandwidth."""
    done = program(system_state(ALL, hot=True))
    file = done.files(["/scratch/run/file"], 4, first_ost=HOT - 1)
    done.transfer(WRITE, file, done.ranks * (16 << 20), 1 << 20, 16)
    load = load_of(batch_of([done]), np.zeros(1))
    amounts = dict(zip(OST_AMOUNTS, load.amounts, strict=True))
    bytes_, usecs = (np.bincount(load.targets, amounts[f"write_{what}"]) for what in ("bytes", "usecs"))
    assert [16 << 20] * 4 == bytes_[HOT - 1 :].tolist()
    assert pytest.approx([FACTOR, 1, 1], rel=1e-3) == (usecs[[HOT, HOT + 1, HOT + 2]] / usecs[HOT - 1]).tolist()
    rpcs = np.bincount(load.targets, amounts["write_samples"])[HOT - 1]
    idle = rpcs * fs.SERVICE_SECONDS + (16 << 20) / fs.OST_BYTES_PER_SECOND
    assert pytest.approx(LOAD * idle * 1e6, rel=1e-3) == usecs[HOT - 1]


def test_lost_is_a_share_of_the_logs_own_time(facility: Facility) -> None:
    """What was lost is the ratio of what the log's POSIX and stdio records say that reads, writes and metadata calls took."""
    for log in facility.logs:
        if any(log["lost_seconds"].values()):
            tables = read_log(facility.path(log)).tables
            parts = [part for table in ("posix_file", "stdio_file") for part in tables.get(table, ())]
            spent = sum(float(part[f"{what}_seconds"].to_numpy().sum()) for part in parts for what in ("read", "write", "meta"))
            assert {kind: pytest.approx(lost / spent) for kind, lost in log["lost_seconds"].items()} == log["lost_ratio"]


@pytest.mark.parametrize("kind", ["hot_ost", "metadata_storm"])
def test_only_logs_of_the_time_lose(kind: str, facility: Facility) -> None:
    """Logs that lost ran in the minutes of the incident; its culprit lost nearly all of its time, others some."""
    incident = facility.incidents[kind]
    struck = [log for log in facility.logs if log["lost_seconds"][kind]]
    for log in struck:
        job = read_log(facility.path(log)).job
        assert job.start_at.timestamp() < incident["end"]
        assert job.end_at.timestamp() > incident["start"] - fs.MINUTE
    culprits = [log["lost_ratio"][kind] for log in struck if log["lineage"] == incident["lineage"]]
    victims = [log["lost_ratio"][kind] for log in struck if log["lineage"] != incident["lineage"]]
    assert max(culprits) == pytest.approx(1 - 1 / incident["factor"], abs=0.01)
    assert all(0 < ratio <= 1 - 1 / incident["factor"] for ratio in victims)
    assert victims
