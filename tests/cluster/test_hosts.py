"""A sweep over several hosts of which one is cut off: no process ends and no connection is closed, all just falls silent."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import hosts
import pytest
from sweeping import column, strays, wait_for

pytestmark = [pytest.mark.netns, pytest.mark.skipif(bool(hosts.why_not()), reason=hosts.why_not())]

_PORT = 8786
_ADDRESS = f"tcp://{hosts.HUB}:{_PORT}"
_SWEEP = """
import sys
from pathlib import Path

import pytest

sys.path.insert(0, sys.argv[1])
from sweeping import judge_by_one, write_no_reports

from iomine.pipeline.sweep import Settings, run

judge_by_one(pytest.MonkeyPatch())
write_no_reports(pytest.MonkeyPatch())
logs, warehouse, scheduler = sys.argv[2:]
summary = run(Settings((Path(logs),), Path(warehouse), scheduler=scheduler))
print(summary.found, summary.ingested, summary.known, summary.rejected)
"""
_DASK = "from distributed.cli.{0} import main; main()"
# The shortest that Dask takes.
_SILENCE_SECONDS = 15
_ENVIRONMENT = os.environ | {"DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": f"{_SILENCE_SECONDS}s"}
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a program on a host, until the test is over."""
    with hosts.network("w1", "w2"), ExitStack() as stack:

        def started(host: str, *command: str) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                hosts.within(host, *command), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=_ENVIRONMENT
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        yield started


def work_on(start: Start, host: str, scratch: Path) -> subprocess.Popen[str]:
    options = ["--no-nanny", "--nthreads", "1", "--no-dashboard", "--local-directory", str(scratch)]
    return start(host, sys.executable, "-c", _DASK.format("dask_worker"), _ADDRESS, *options)


def sweep_from_hub(start: Start, logs: Path, warehouse: Path) -> subprocess.Popen[str]:
    return start("hub", sys.executable, "-c", _SWEEP, str(Path(__file__).parents[1]), str(logs), str(warehouse), _ADDRESS)


def test_a_host_that_is_cut_off_costs_time_only(start, shared_data, tmp_path):
    """The other host does its part and each log is ingested once; a worker on the host that is back can do all alone."""
    scratch, warehouse = tmp_path / "scratch", tmp_path / "warehouse"
    scheduler = ["--host", hosts.HUB, "--port", str(_PORT), "--no-dashboard", "--no-show"]
    start("hub", sys.executable, "-c", _DASK.format("dask_scheduler"), *scheduler)
    workers = [work_on(start, host, scratch) for host in ("w1", "w2")]
    sweep = sweep_from_hub(start, shared_data / "darshan" / "dask-polaris", warehouse)
    assert wait_for(lambda: list((warehouse / "staging").rglob("*.parquet")), 120)
    hosts.cut("w2")
    cut_at = time.monotonic()

    assert "233 232 0 1\n" == sweep.communicate(timeout=120)[0]
    # What the lost host had in hand was waited for, so there was some.
    assert time.monotonic() - cut_at > _SILENCE_SECONDS / 2
    assert [] == strays(warehouse)
    counts = "SELECT count(*) FROM logs UNION ALL SELECT count(DISTINCT log_id) FROM logs"
    assert [232, 232] == column(warehouse, counts)

    hosts.mend("w2")
    workers[0].kill()
    work_on(start, "w2", scratch)
    assert "2 2 0 0\n" == sweep_from_hub(start, shared_data / "darshan" / "codes", warehouse).communicate(timeout=120)[0]
