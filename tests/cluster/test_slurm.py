"""Sweeps on a real Slurm, as a site runs one: jobs that wait, jobs that are cancelled, nodes that fail."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import slurm as real
from slurm import Slurm
from sweeping import IOMINE, State, judge_by_one, state, strays, wait_for

from iomine.errors import NoWorkersError
from iomine.pipeline import progress
from iomine.pipeline.judging.rollups import OF_VERDICTS
from iomine.pipeline.sweep import Settings, run
from iomine.triggers import TRIGGERS
from iomine.triggers.judge import features

pytestmark = [pytest.mark.slurm, pytest.mark.skipif(bool(real.why_not()), reason=real.why_not())]

_SITE = 'interface = "lo"\ncores = 1\nmemory_gib = 1\nmaximum_jobs = 3\n'


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    """A Slurm with three nodes."""
    pytest.importorskip("dask_jobqueue")
    with real.running() as running:
        yield running


@pytest.fixture
def site(slurm: Slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A warehouse whose site has that Slurm; when the test is over no job of it is left."""
    monkeypatch.setenv("SLURM_CONF", slurm.environment["SLURM_CONF"])
    warehouse = tmp_path / "warehouse"
    warehouse.mkdir()
    (warehouse / "slurm.toml").write_text(_SITE)
    yield warehouse
    # Slurm calls a job completing until its node has tidied up, and asks a node that did not hear it once more after minutes.
    wait_for(lambda: not slurm.ask("squeue", "--noheader"), 200)
    assert [] == slurm.ask("squeue", "--noheader")


def sweep(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [*IOMINE, "sweep", *map(str, arguments), "--slurm"]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)


def as_read(warehouse: Path) -> State:
    """Rows of the tables that come out of logs; those that come of judging stand apart."""
    judged = {"verdict", "cost_claim", "io_part", "log_layer", *OF_VERDICTS, *features(list(TRIGGERS.values()))}
    return {table: rows for table, rows in state(warehouse).items() if table not in judged}


def test_a_sweep_on_slurm_says_the_same_as_one_here(slurm, site, shared_data, tmp_path, monkeypatch):
    """The command with one option more gives the same rows, reports that it waits for jobs, and leaves none behind."""
    logs = (shared_data / "darshan" / "codes", shared_data / "darshan" / "ecpam21")
    there = sweep(*logs, "--warehouse", site)
    judge_by_one(monkeypatch)
    run(Settings(logs, tmp_path / "here", workers=1))

    assert 0 == there.returncode, there.stderr
    assert there.stdout.startswith("7 found = 7 ingested + 0 known + 0 rejected, in ")
    assert progress.WAITING in there.stderr
    assert {"log", "module", "posix_file"} <= set(as_read(site))
    assert as_read(tmp_path / "here") == as_read(site)


def test_jobs_that_end_midway_cost_nothing(slurm, site, one_trigger, shared_data, tmp_path):
    """One is cancelled and the node of another fails: the last one does the rest, and no log is lost or counted twice."""
    with (site / "slurm.toml").open("a") as settings:
        settings.write("minimum_jobs = 3\n")
    logs = shared_data / "darshan" / "dask-polaris"
    lost: list[str] = []

    def harm(stage: str, _done: int, _total: int) -> None:
        if stage == "read" and len(lost) < 2:
            jobs = slurm.jobs()
            if not lost:
                lost.append(min(jobs))
                slurm.ask("scancel", lost[0])
            else:
                lost.append(jobs[max(jobs)])
                slurm.lose(lost[1])

    progress.listen(harm)
    try:
        there = run(Settings((logs,), site, slurm=True))
    finally:
        progress.listen(None)
        if len(lost) > 1:
            slurm.restore(lost[1])
    here = run(Settings((logs,), tmp_path / "here", workers=1))

    assert 2 == len(lost)
    assert (233, 232, 0, 1) == (there.found, there.ingested, there.known, there.rejected)
    assert here.reasons == there.reasons
    assert state(tmp_path / "here") == state(site)
    assert [] == strays(site)


def test_jobs_that_never_start_are_reported(slurm, site, one_trigger, shared_data):
    """While all nodes are drained the queue takes jobs and runs none: the sweep waits as long as the site says, and goes."""
    with (site / "slurm.toml").open("a") as settings:
        settings.write("wait_seconds = 3\n")
    reported = set()
    progress.listen(lambda stage, done, _total: reported.add((stage, done)))
    slurm.ask("scontrol", "update", "nodename=ALL", "state=drain", "reason=test")
    try:
        with pytest.raises(NoWorkersError, match=r"^There was no worker for 3\.0 s: see what keeps them, and sweep again; "):
            run(Settings((shared_data / "darshan" / "codes",), site, slurm=True))
    finally:
        progress.listen(None)
        slurm.ask("scontrol", "update", "nodename=ALL", "state=resume")

    assert {(progress.WAITING, 0)} == reported


def test_settings_that_slurm_refuses_are_misuse(site, shared_data):
    """Reported in one sentence before anything is begun, with what Slurm says."""
    (site / "slurm.toml").write_text('partition = "nonesuch"\n')
    refused = sweep(shared_data / "darshan" / "codes", "--warehouse", site)

    assert 2 == refused.returncode
    (line,) = refused.stderr.splitlines()
    assert line.startswith("Slurm does not take the jobs that slurm.toml describes: sbatch: error: ")
    assert "nonesuch" in line
    assert not (site / "lake").exists()
