"""A scheduler and workers that somebody else has started, and workers that die."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import dask
import pytest
from standing import Standing
from sweeping import IOMINE, judge_by_one, state, strays, wait_for

from iomine.errors import WorkersError
from iomine.pipeline import progress
from iomine.pipeline.sweep import Settings, run
from iomine.pipeline.workers.cluster import LOST, Smaller, Workers, map_unordered, own_workers

pytestmark = [pytest.mark.usefixtures("one_trigger")]


@pytest.fixture
def facility(tmp_path: Path) -> Iterator[Standing]:
    running = Standing.on_a_free_port(tmp_path / "scratch")
    try:
        running.start()
        yield running
    finally:
        running.end()


@pytest.fixture
def at_first_batch() -> Iterator[Callable[[Callable[[], None]], None]]:
    """Has something done as soon as the first batch is read, while the others are."""

    def listen(deed: Callable[[], None]) -> None:
        left = iter([deed])
        progress.listen(lambda stage, _done, _total: next(left, int)() if stage == "read" else None)

    yield listen
    progress.listen(None)


@pytest.fixture
def logs(shared_data: Path) -> Path:
    """Enough for several batches."""
    return shared_data / "darshan" / "dask-polaris"


@pytest.fixture(scope="module")
def undisturbed(scheduler, shared_data, tmp_path_factory):
    """What a sweep of those logs comes to when nothing goes wrong."""
    warehouse = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as patch:
        judge_by_one(patch)
        summary = run(Settings((shared_data / "darshan" / "dask-polaris",), warehouse, scheduler=scheduler))
    assert (233, 232, 0, 1) == (summary.found, summary.ingested, summary.known, summary.rejected)
    return state(warehouse)


def test_a_sweep_runs_on_a_scheduler_that_is_there(facility, logs, undisturbed, tmp_path):
    """Given its address and no other change, it says the same as a sweep with workers of its own, and leaves it running."""
    run(Settings((logs,), tmp_path / "warehouse", scheduler=facility.address))

    assert undisturbed == state(tmp_path / "warehouse")
    assert [None, None, None] == [process.poll() for process in facility.processes]


def test_a_worker_that_dies_costs_nothing(facility, logs, undisturbed, at_first_batch, tmp_path):
    """Its batches are read again by the other worker; each log is ingested once."""
    at_first_batch(facility.workers[0].kill)
    run(Settings((logs,), tmp_path / "warehouse", scheduler=facility.address))

    assert -signal.SIGKILL == facility.workers[0].wait()
    assert undisturbed == state(tmp_path / "warehouse")
    assert [] == strays(tmp_path / "warehouse")


def test_a_worker_that_is_stopped_costs_time_only(facility, logs, undisturbed, at_first_batch, tmp_path):
    """Its host may hang: when it has been silent for too long the other does its work, and what it says later counts no more."""
    stopped = facility.workers[0]
    at_first_batch(lambda: stopped.send_signal(signal.SIGSTOP))
    run(Settings((logs,), tmp_path / "warehouse", scheduler=facility.address))
    stopped.send_signal(signal.SIGCONT)

    assert undisturbed == state(tmp_path / "warehouse")
    again = run(Settings((logs,), tmp_path / "warehouse", scheduler=facility.address))
    assert (233, 0, 232, 1) == (again.found, again.ingested, again.known, again.rejected)
    assert undisturbed == state(tmp_path / "warehouse")


def test_a_scheduler_that_is_lost_ends_the_sweep_in_a_sentence(facility, logs, undisturbed, tmp_path):
    """Nothing is published and nothing left behind; once there is one again, the next sweep does it all."""
    warehouse = tmp_path / "warehouse"
    command = [*IOMINE, "sweep", str(logs), "--warehouse", str(warehouse), "--scheduler", facility.address]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert wait_for(lambda: list((warehouse / "staging").rglob("*.parquet")), 120)
        facility.scheduler.kill()
        said, reported = process.communicate(timeout=120)
    finally:
        process.kill()

    assert (1, "") == (process.returncode, said)
    assert LOST == reported.splitlines()[-1]
    assert "Traceback" not in reported
    assert {} == state(warehouse)
    facility.start()
    run(Settings((logs,), warehouse, scheduler=facility.address))
    assert undisturbed == state(warehouse)


def die_of(numbers: list[int], deadly: int) -> list[int]:
    """Does its work, except for one number."""
    if deadly in numbers:
        os._exit(1)
    return numbers


def halves(numbers: list[int]) -> Smaller[list[int]] | list[int]:
    middle = len(numbers) // 2
    return Smaller((numbers[:middle], numbers[middle:])) if middle else [-numbers[0]]


@pytest.fixture(scope="module")
def mortal() -> Iterator[Workers]:
    """Two workers that are replaced whenever they die, and a scheduler that gives a task up at the first death."""
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}), own_workers(2) as workers:
        yield workers


def test_what_kills_its_workers_is_found_and_costs_itself_alone(mortal):
    """Whatever was in hand beside it is done; of what it was handed out with, it alone is set aside."""
    items = [[n, n + 1, n + 2, n + 3] for n in range(0, 12, 4)]
    results = [result for _, result in map_unordered(mortal, die_of, items, 9, after_deaths=halves)]

    assert sorted([*range(9), -9, *range(10, 12)]) == sorted(number for result in results for number in result)


def test_work_that_kills_every_worker_is_given_up(mortal):
    """Where there is no saying what else to do, it ends in a sentence that may be retried, not in waiting for ever."""
    with pytest.raises(WorkersError, match=r"^Workers could not do a part of the work \(KilledWorker: "):
        list(map_unordered(mortal, os._exit, [1]))
