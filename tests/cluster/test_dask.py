"""A scheduler and workers that somebody else has started, and workers that die."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from distributed import Client
from sweeping import column, run, state, strays

from iomine.errors import WorkersError
from iomine.pipeline import progress
from iomine.pipeline.cluster import Workers, map_unordered
from iomine.pipeline.sweep import Settings

pytestmark = pytest.mark.cluster

_DASK = (sys.executable, "-c", "from distributed.cli.{0} import main; main()")


def start(program: str, *arguments: str) -> subprocess.Popen[bytes]:
    interpreter, option, script = _DASK
    return subprocess.Popen(
        [interpreter, option, script.format(program), *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


@pytest.fixture
def facility(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Address of a scheduler with two workers, and their processes."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    head, port = address.split(":")
    scheduler = start("dask_scheduler", "--host", head, "--port", port, "--no-dashboard", "--no-show")
    scratch = ["--local-directory", str(tmp_path / "scratch")]
    workers = [
        start("dask_worker", f"tcp://{address}", "--no-nanny", "--nthreads", "1", "--no-dashboard", *scratch) for _ in range(2)
    ]
    try:
        with Client(f"tcp://{address}", set_as_default=False, timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
        yield f"tcp://{address}", workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


def test_a_sweep_runs_on_a_scheduler_that_is_there(facility, shared_data, tmp_path):
    """Given its address and no other change, it says the same as a sweep with workers of its own, and leaves it running."""
    address, workers = facility
    logs = (shared_data / "darshan" / "codes", shared_data / "darshan" / "ecpam21")
    elsewhere = run(Settings(logs, tmp_path / "elsewhere", scheduler=address))
    here = run(Settings(logs, tmp_path / "here", workers=1))

    assert (7, 7, 0, 0) == (here.found, here.ingested, here.known, here.rejected)
    assert state(tmp_path / "here") == state(tmp_path / "elsewhere")
    assert here.nights == elsewhere.nights
    assert [None, None] == [worker.poll() for worker in workers]


def test_a_worker_that_dies_costs_nothing(facility, shared_data, tmp_path):
    """Its batches are read again by the other worker; each log is ingested once."""
    address, workers = facility
    logs = tmp_path / "logs"
    shutil.copytree(shared_data / "darshan" / "dask-polaris", logs)

    def kill_one(stage: str, _done: int, _total: int) -> None:
        if stage == "read" and workers[0].poll() is None:
            workers[0].kill()
            workers[0].wait()

    progress.listen(kill_one)
    summary = run(Settings((logs,), tmp_path / "warehouse", scheduler=address))

    assert -signal.SIGKILL == workers[0].returncode
    assert 233 == summary.ingested + summary.known + summary.rejected
    assert [] == column(tmp_path / "warehouse", "SELECT reason FROM rejects WHERE stage = 'read'")
    counts = "SELECT count(*) - count(DISTINCT log_id) FROM logs UNION ALL SELECT count(*) FROM logs ORDER BY 1"
    assert [0, summary.ingested] == column(tmp_path / "warehouse", counts)
    assert [] == strays(tmp_path / "warehouse")


def test_work_that_kills_every_worker_is_given_up(facility):
    """A task that takes its workers with it ends in a sentence that may be retried, not in waiting for ever."""
    address, workers = facility
    with Client(address, set_as_default=False) as client, replaced(address, workers):
        told = r"^Workers could not do a part of the work \(KilledWorker: "
        with pytest.raises(WorkersError, match=told):
            list(map_unordered(Workers(client), os._exit, [1]))


@contextmanager
def replaced(address: str, workers: list[subprocess.Popen[bytes]]) -> Iterator[None]:
    """Answers every death of all workers with a new one, as a site does."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.1):
            if all(worker.poll() is not None for worker in workers):
                workers.append(start("dask_worker", address, "--no-nanny", "--nthreads", "1", "--no-dashboard"))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
