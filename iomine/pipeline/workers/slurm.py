"""Workers as Slurm jobs: what a site sets for them, and how they are asked for.

The scheduler lives in the sweep's own process; each job is one worker with a thread for each of its cores. Jobs come and
go with the work. Anyone who can reach a Dask scheduler can run programs through it, so this one speaks TLS only, with
certificates that last as long as the sweep.
"""

import logging
import math
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from pydantic import model_validator

from iomine.errors import UsageError
from iomine.pipeline.workers.environment import KEPT_MEMORY
from iomine.settings import Count, CountOrZero, Line, Lines, SiteSettings, has_site_file, read_site_file, setting

if TYPE_CHECKING:
    from distributed import Security

    from iomine.pipeline.workers.cluster import Workers

_JOB_NAME: Final = "iomine"
_SECRET: Final = 0o600
_ORPHAN_SECONDS: Final = 60
# Jobs are given back when there has been nothing for them to do for so long: a queue may take hours to give them again.
_IDLE_SECONDS: Final = 60
_ANSWER_SECONDS: Final = 60
# A worker stops before Slurm ends its job, so that the log that it had in hand is not blamed.
_LIFETIME_RATIO: Final = 0.85
_STAGGER_RATIO: Final = 0.1
_ENVIRONMENT: Final = (
    "export DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE=False",
    "export DASK_DISTRIBUTED__WORKER__HTTP__ROUTES='[]'",
    f'export DASK_DISTRIBUTED__NANNY__PRE_SPAWN_ENVIRON="{KEPT_MEMORY}"',
    "export PYTHONSAFEPATH=1",
    # As the sweep itself: files of the warehouse are for its owner and group.
    "umask 0027",
)


class SlurmSite(SiteSettings):
    """What a site sets for jobs; text that is empty leaves the choice to Slurm or Dask."""

    whose: ClassVar[str] = "Slurm"
    partition: Line = setting("", "Partition of the jobs.")
    account: Line = setting("", "Account that the jobs are charged to.")
    cores: Count = setting(4, "Cores of a job; as many logs are read at a time.")
    memory_gib: Count = setting(16, "Memory of a job, in GiB. A log may take 4 GiB, few take one.")
    walltime_minutes: Count = setting(60, "Time limit of a job, in minutes. A sweep that takes longer goes on in other jobs.")
    minimum_jobs: CountOrZero = setting(0, "Jobs to keep while there is nothing to do.")
    maximum_jobs: Count = setting(4, "Jobs at a time, at most.")
    wait_seconds: Count = setting(3600, "How long to wait while not one job runs, in seconds.")
    interface: Line = setting("", "Network interface that jobs reach each other by, such as ib0.")
    scheduler_interface: Line = setting("", "The same on the host that sweeps, where it has another name there.")
    local_directory: Line = setting("", "Folder on the nodes for scratch files of Dask.")
    log_directory: Line = setting("", "Folder that all nodes see, for what jobs print; kept until you clear it.")
    directives: Lines = setting((), 'More options of sbatch, such as "--qos=night".')
    prologue: Lines = setting((), 'Lines of shell to run first in each job, such as "module load python".')

    @model_validator(mode="after")
    def _is_fit(self) -> Self:
        if self.minimum_jobs > self.maximum_jobs:
            raise UsageError(f"minimum_jobs, {self.minimum_jobs}, is more than maximum_jobs, {self.maximum_jobs}: make it less.")
        return self


def check_choice(*, slurm: bool, scheduler: str | None, workers: int | None) -> None:
    """Makes sure that workers are asked for in one way.

    Raises:
        UsageError: they are asked for in more.
    """
    if slurm and (scheduler is not None or workers is not None):
        other = "--workers" if scheduler is None else "--scheduler"
        raise UsageError(f"With --slurm the workers are jobs as slurm.toml describes them: leave {other} out.")


def site_of(root: Path) -> SlurmSite:
    """The settings of a warehouse.

    Args:
        root: folder of the warehouse, which holds `slurm.toml`.

    Raises:
        UsageError: there is no such file, it cannot be read, or a setting in it is unknown or not fit.
    """
    file = root / "slurm.toml"
    if not has_site_file(file):
        raise UsageError(f"There is no {file}: copy deploy/slurm/slurm.toml there and set what your site needs.")
    return read_site_file(file, "Slurm settings", SlurmSite.parse)


def check(site: SlurmSite) -> None:
    """Makes sure that Slurm would take the jobs, without handing in one.

    Raises:
        UsageError: it would not, or this host cannot ask it.
    """
    if find_spec("dask_jobqueue") is None:
        raise UsageError("The package dask-jobqueue is missing: pip install 'iomine[slurm]'.")
    if shutil.which("sbatch") is None:
        raise UsageError("There is no sbatch here: sweep on a host that can submit jobs to Slurm, or leave --slurm out.")
    there = [name for _, name in socket.if_nameindex()]
    if (interface := site.scheduler_interface or site.interface) and interface not in there:
        raise UsageError(f"This host has no network interface {interface}: it has {', '.join(there)}.")
    if refusal := _refusal(batch_script(site, "tcp://127.0.0.1:0")):
        raise UsageError(f"Slurm does not take the jobs that slurm.toml describes: {refusal}")


def _refusal(script: str) -> str:
    """Why Slurm would refuse a job, empty where it would not."""
    tried = _sbatch(script, "--test-only")
    if tried.returncode == 0:
        return ""
    # While nodes are down or drained a trial fails, and a job waits.
    held = _sbatch(script, "--hold", "--parsable")
    if held.returncode:
        return " ".join((held.stderr or tried.stderr).split())
    subprocess.run(["scancel", held.stdout.partition(";")[0].strip()], check=False)  # noqa: S603, S607  as sbatch
    return ""


def _sbatch(script: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = ["sbatch", *options]
    try:
        return subprocess.run(  # noqa: S603  the site's own, wherever it is
            command, input=script, capture_output=True, text=True, errors="replace", timeout=_ANSWER_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"sbatch does not answer within {_ANSWER_SECONDS} s.")


def batch_script(site: SlurmSite, scheduler: str) -> str:
    """What is handed in to Slurm for each worker of a scheduler at an address."""
    from dask_jobqueue.slurm import SLURMJob  # noqa: PLC0415  an extra

    script: str = SLURMJob(scheduler, name="worker", **_job(site)).job_script()
    return script


def _job(site: SlurmSite) -> Mapping[str, Any]:
    """A job, in the words of dask-jobqueue."""
    seconds = site.walltime_minutes * 60
    lifetime, stagger = math.floor(seconds * _LIFETIME_RATIO), math.floor(seconds * _STAGGER_RATIO)
    # Otherwise Slurm writes a file for each job into the current folder.
    silence = () if site.log_directory else ("--output=/dev/null", "--error=/dev/null")
    return {
        "job_name": _JOB_NAME,
        "queue": site.partition or None,
        "account": site.account or None,
        "walltime": str(site.walltime_minutes),
        "cores": site.cores,
        # dask-jobqueue replaces lost jobs of one process only.
        "processes": 1,
        "memory": f"{site.memory_gib}GiB",
        "interface": site.interface or None,
        "local_directory": shlex.quote(site.local_directory) if site.local_directory else None,
        "log_directory": site.log_directory or None,
        "python": shlex.quote(sys.executable),
        # A sweep that is gone leaves no jobs behind for long.
        "death_timeout": _ORPHAN_SECONDS,
        # Dask replaces what is lost; a job that Slurm began again would look for a scheduler that may be gone.
        "job_extra_directives": ["--no-requeue", *silence, *site.directives],
        "job_script_prologue": [*_ENVIRONMENT, *site.prologue],
        "worker_extra_args": [
            *("--no-dashboard", "--dashboard-address", "127.0.0.1:0"),
            *("--lifetime", f"{lifetime}s", "--lifetime-stagger", f"{stagger}s"),
        ],
    }


@contextmanager
def slurm_workers(site: SlurmSite, shared: Path) -> "Iterator[Workers]":
    """Jobs as work comes, up to the site's maximum, gone when the context ends.

    Args:
        site: what the site sets for them.
        shared: a folder that all nodes see, for certificates.

    Raises:
        UsageError: Slurm would not take the jobs.
    """
    check(site)
    import dask  # noqa: PLC0415  takes a second, and most sweeps need none of it
    from dask_jobqueue import SLURMCluster  # noqa: PLC0415  an extra
    from distributed import Client  # noqa: PLC0415

    from iomine.pipeline.workers.cluster import NO_PAGES, Workers, hush  # noqa: PLC0415

    hush()
    interface = site.scheduler_interface or site.interface
    scheduler = {"dashboard": False, "dashboard_address": "127.0.0.1:0"} | ({"interface": interface} if interface else {})
    with (
        dask.config.set(NO_PAGES),
        _certificates(shared) as security,
        SLURMCluster(**_job(site), security=security, scheduler_options=scheduler, silence_logs=logging.CRITICAL) as cluster,
        Client(cluster, set_as_default=False) as connected,
    ):
        # As many jobs as there are batches: a job that has waited in the queue should find the work still there.
        cluster.adapt(minimum=site.minimum_jobs, maximum=site.maximum_jobs, target_duration="1s", wait_count=_IDLE_SECONDS)
        yield Workers(connected, site.maximum_jobs * site.cores, site.wait_seconds)


@contextmanager
def _certificates(shared: Path) -> "Iterator[Security]":
    """Certificates in files that their owner alone may read, for as long as the context lasts."""
    from distributed import Security  # noqa: PLC0415

    from iomine.pipeline.workers.certificates import certified  # noqa: PLC0415

    made = certified()
    with tempfile.TemporaryDirectory(prefix="tls-", dir=shared) as folder:
        certificate, key = Path(folder, "certificate.pem"), Path(folder, "key.pem")
        for file, text in ((certificate, made.tls_ca_file), (key, made.tls_client_key)):
            file.touch(_SECRET)
            file.write_text(text)
        roles = ("scheduler", "worker", "client")
        yield Security(
            require_encryption=True,
            tls_ca_file=str(certificate),
            **{f"tls_{role}_cert": str(certificate) for role in roles},
            **{f"tls_{role}_key": str(key) for role in roles},
        )
