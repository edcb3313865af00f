"""What a real Slurm says of real jobs: all of its forms say the same, and what was asked of it."""

import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import slurm as real
from slurm import NODES, Slurm
from sweeping import wait_for

from iomine.sources.accounting import SOURCES
from iomine.sources.model import Input

pytestmark = [pytest.mark.slurm, pytest.mark.skipif(bool(real.why_not()), reason=real.why_not())]

FORMS = {
    "scontrol": ("scontrol", "show", "job"),
    "in detail": ("scontrol", "-d", "show", "job"),
    "on one line": ("scontrol", "-o", "show", "job"),
    "json": ("squeue", "--json", "--states=all"),
}
# Every name that each form can read.
NAMES = ("two nodes|a=b", "red \x1b[31m \xff ü", "several\nJobId=99 JobName=lines", "x" * 200)


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    """A Slurm whose jobs have run, except for one that runs and one that waits."""
    with real.running() as running:
        for name in NAMES:
            submit(running, "--nodes=2", f"--job-name={name}", "--time=10", "--comment=x JobState=FAILED", wrap="true")
        submit(running, "--array=3-4", "--job-name=array", wrap="exit 3")
        submit(running, "--ntasks=1", "--job-name=parts", ":", "--ntasks=1", wrap="true")
        submit(running, f"--nodes={len(NODES)}", "--job-name=killed", wrap="kill -9 $$")
        submit(running, "--job-name=waits", "--begin=now+1hour", wrap="true")
        assert wait_for(lambda: 1 == len(running.ask("squeue", "--noheader")), 60)
        submit(running, "--job-name=runs", wrap="sleep 600")
        assert wait_for(running.jobs, 20)
        yield running


def submit(slurm: Slurm, *options: str, wrap: str) -> None:
    """Submits a script to run somewhere."""
    command = ["sbatch", "--output=/dev/null", "--chdir=/tmp", *options, f"--wrap={wrap}"]
    subprocess.run(command, env=slurm.environment, check=True, capture_output=True)


def rows(slurm: Slurm, form: str) -> dict[str, dict[str, object]]:
    """Jobs as a form lists them, by number."""
    reported = subprocess.run(FORMS[form], env=slurm.environment, check=True, capture_output=True).stdout
    source = Input(form, reported, datetime.now(UTC))
    (known,) = [each for each in SOURCES if each.knows(source)]
    readings = known.read(source)
    assert "" == readings.doubt
    return {row["job_id"]: row for row in readings.tables["job"].to_pylist()}


def test_every_form_says_the_same(slurm):
    """scontrol, in detail and on one line, and JSON give equal rows, except for how long the job that runs has run."""
    reported = {form: rows(slurm, form) for form in FORMS}
    for jobs in reported.values():
        for row in jobs.values():
            row.pop("run_seconds") if row["job_state"] == "RUNNING" else None
    for jobs in reported.values():
        assert reported["scontrol"] == jobs


def test_jobs_are_as_they_were_asked_for(slurm):
    """Names, states, exit codes, nodes, arrays and parts of jobs are those that were submitted."""
    found = {row["shown_job_id"]: row for row in rows(slurm, "scontrol").values()}
    names = {"array": ["FAILED", "3:0"], "parts": ["COMPLETED", "0:0"], "killed": ["FAILED", "0:9"], "waits": ["PENDING", "0:0"]}
    assert [*NAMES, "array", "array", "parts", "parts", "killed", "waits", "runs"] == sorted(
        (row["job_name"] for row in found.values()), key=[*NAMES, *names, "runs"].index
    )
    for name, expected in names.items():
        assert {tuple(expected)} == {(row["job_state"], row["exit_code"]) for row in found.values() if row["job_name"] == name}
    assert {"_3", "_4"} == {shown[shown.index("_") :] for shown in found if "_" in shown}
    assert {"+0", "+1"} == {shown[shown.index("+") :] for shown in found if "+" in shown}
    for row in found.values():
        assert (row["node_count"] if row["start_at"] else 0) == len(row["hosts"])
        assert ({"PENDING": "", "RUNNING": "start"}.get(row["job_state"], "start end")) == " ".join(
            word for word in ("start", "end") if row[f"{word}_at"]
        )
        if row["job_name"] in NAMES:
            assert (2, 600.0, "root", 0) == (row["node_count"], row["limit_seconds"], row["user"], row["uid"])
    assert set(NODES) == {host for row in found.values() for host in row["hosts"]}
